import { describe, expect, test } from "vitest";
import { metadataOf } from "../../testing/api-objects.ts";
import type { ResourceType } from "../resource.ts";
import type { ContainerStatus, Pod, PodSpec, PodStatus } from "../types/core.ts";
import type { ObjectMeta } from "../types/meta.ts";
import { CONFIG_MAP } from "./config-map.ts";
import { CONTROLLER_REVISION } from "./controller-revision.ts";
import { DEPLOYMENT } from "./deployment.ts";
import { ENDPOINT_SLICE } from "./endpoint-slice.ts";
import { ENDPOINTS_TYPE } from "./endpoints.ts";
import { EVENT } from "./event.ts";
import { IP_ADDRESS } from "./ip-address.ts";
import { LEASE } from "./lease.ts";
import { NAMESPACE } from "./namespace.ts";
import { NEW_EVENT } from "./new-event.ts";
import { NODE } from "./node.ts";
import { POD } from "./pod.ts";
import { REPLICA_SET } from "./replica-set.ts";
import { SECRET } from "./secret.ts";
import { SERVICE } from "./service.ts";
import { SERVICE_ACCOUNT } from "./service-account.ts";
import { STATEFUL_SET } from "./stateful-set.ts";

const NOW_MS = Date.parse("2026-01-01T00:05:00Z");

/** The row of an object called web, five minutes old, without name and age. */
function row(type: ResourceType, parts: object, metadata: Partial<ObjectMeta> = {}): string {
	const object = { apiVersion: "x", kind: type.kind, metadata: metadataOf("web", metadata), ...parts };
	const cells = type.table.cells(object, NOW_MS);
	expect(cells).toHaveLength(type.table.columns.length);
	return cells.filter((_, index) => !["Name", "Age"].includes(type.table.columns[index]?.name ?? "")).join(" | ");
}

const selector = { matchLabels: { tier: "a", app: "web" } };
const template = {
	metadata: {},
	spec: {
		containers: [
			{ name: "a", image: "a:1" },
			{ name: "b", image: "b:2" },
		],
	},
};
const ports = [
	{ port: 80, protocol: "TCP" },
	{ port: 443, protocol: "UDP", nodePort: 30443 },
];
const two = [{ ip: "10.0.0.1" }, { ip: "fd00::1" }];

describe("rows of kinds", () => {
	test.each<{ what: string; type: ResourceType; parts: object; text: string; metadata?: Partial<ObjectMeta> }>([
		{
			what: "a ClusterIP Service",
			type: SERVICE,
			parts: { spec: { type: "ClusterIP", clusterIPs: ["10.96.0.1", "fd::1"], ports, selector: selector.matchLabels } },
			text: "ClusterIP | 10.96.0.1 | <none> | 80/TCP,443:30443/UDP | app=web,tier=a",
		},
		{
			what: "an ExternalName Service",
			type: SERVICE,
			parts: { spec: { type: "ExternalName", externalName: "a.b" } },
			text: "ExternalName | <none> | a.b | <none> | <none>",
		},
		{
			what: "a LoadBalancer that waits",
			type: SERVICE,
			parts: { spec: { type: "LoadBalancer", clusterIPs: ["10.96.0.1"] }, status: { loadBalancer: {} } },
			text: "LoadBalancer | 10.96.0.1 | <pending> | <none> | <none>",
		},
		{
			what: "a LoadBalancer with addresses, sorted and once",
			type: SERVICE,
			parts: {
				spec: { type: "LoadBalancer", externalIPs: ["192.0.2.1"] },
				status: {
					loadBalancer: { ingress: [{ ip: "9.9.9.9" }, { hostname: "a.b" }, { ip: "10.0.0.1" }, { ip: "9.9.9.9" }] },
				},
			},
			text: "LoadBalancer | <none> | 10.0.0.1,9.9.9.9,a.b,192.0.2.1 | <none> | <none>",
		},
		{ what: "a ConfigMap", type: CONFIG_MAP, parts: { data: { a: "", b: "" }, binaryData: { c: "" } }, text: "3" },
		{ what: "a Secret", type: SECRET, parts: { type: "Opaque", data: { a: "" } }, text: "Opaque | 1" },
		{ what: "a ServiceAccount", type: SERVICE_ACCOUNT, parts: { secrets: [{ name: "a" }] }, text: "" },
		{
			what: "a StatefulSet",
			type: STATEFUL_SET,
			parts: { spec: { replicas: 3, template, selector }, status: { readyReplicas: 2 } },
			text: "2/3 | a,b | a:1,b:2",
		},
		{
			what: "a ControllerRevision",
			type: CONTROLLER_REVISION,
			parts: { data: {}, revision: 2 },
			metadata: {
				ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u", controller: true }],
			},
			text: "statefulset.apps/web | 2",
		},
		{
			what: "an Event in newer words",
			type: NEW_EVENT,
			parts: {
				regarding: { kind: "Pod", name: "web-1" },
				note: " Started \n",
				reason: "Started",
				type: "Normal",
				eventTime: "2026-01-01T00:04:00.000000Z",
				reportingController: "kubelet",
			},
			text: "60s | Normal | Started | pod/web-1 |  | kubelet | Started | 60s | 1",
		},
		{ what: "Endpoints without subsets", type: ENDPOINTS_TYPE, parts: {}, text: "<none>" },
		{ what: "Endpoints, none ready", type: ENDPOINTS_TYPE, parts: { subsets: [{ notReadyAddresses: two }] }, text: "" },
		{
			what: "Endpoints, port by port",
			type: ENDPOINTS_TYPE,
			parts: { subsets: [{ addresses: two, ports }] },
			text: "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...",
		},
		{
			what: "Endpoints without ports",
			type: ENDPOINTS_TYPE,
			parts: { subsets: [{ addresses: two }] },
			text: "10.0.0.1,fd00::1",
		},
		{
			what: "an EndpointSlice",
			type: ENDPOINT_SLICE,
			parts: {
				addressType: "IPv6",
				ports: [{ port: 80 }, { name: "a" }, {}],
				endpoints: [{ addresses: ["fd00::1", "fd00::2"] }],
			},
			text: "IPv6 | 80,a,* | fd00::1,fd00::2",
		},
		{
			what: "an empty EndpointSlice",
			type: ENDPOINT_SLICE,
			parts: { addressType: "IPv4", ports: null, endpoints: null },
			text: "IPv4 | <unset> | <unset>",
		},
		{
			what: "a Node",
			type: NODE,
			parts: {
				spec: { unschedulable: true },
				status: {
					conditions: [{ type: "Ready", status: "True" }],
					addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
					nodeInfo: { kubeletVersion: "v1.36.0", kernelVersion: "6.1", architecture: "amd64" },
				},
			},
			metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "control-plane" } },
			text: "Ready,SchedulingDisabled | control-plane,worker | v1.36.0 | 10.0.0.1 | <none> | <unknown> | 6.1 (amd64) | <unknown>",
		},
		{ what: "a Namespace", type: NAMESPACE, parts: { status: { phase: "Active" } }, text: "Active" },
		{ what: "a Lease", type: LEASE, parts: { spec: { holderIdentity: "n1" } }, text: "n1" },
		{
			what: "an IPAddress",
			type: IP_ADDRESS,
			parts: { spec: { parentRef: { group: "", resource: "services", namespace: "default", name: "web" } } },
			text: "services/default/web",
		},
		{
			what: "a Deployment",
			type: DEPLOYMENT,
			parts: { spec: { replicas: 3, selector, template }, status: { readyReplicas: 1, updatedReplicas: 2 } },
			text: "1/3 | 2 | 0 | a,b | a:1,b:2 | app=web,tier=a",
		},
		{
			what: "a ReplicaSet with expressions",
			type: REPLICA_SET,
			parts: {
				spec: {
					replicas: 3,
					selector: { matchExpressions: [{ key: "app", operator: "In", values: ["b", "a"] }] },
					template,
				},
				status: { replicas: 2 },
			},
			text: "3 | 2 | 0 | a,b | a:1,b:2 | app in (a,b)",
		},
		{
			what: "an old Event",
			type: EVENT,
			parts: {
				type: "Warning",
				reason: "Bad",
				message: " went wrong\n",
				involvedObject: { kind: "Pod", name: "web", fieldPath: "spec" },
				source: { component: "kubelet", host: "n1" },
				firstTimestamp: "2026-01-01T00:00:00Z",
				lastTimestamp: "2026-01-01T00:04:50Z",
				count: 7,
			},
			text: "10s | Warning | Bad | pod/web | spec | kubelet, n1 | went wrong | 5m | 7",
		},
		{
			what: "a new Event",
			type: EVENT,
			parts: { involvedObject: { kind: "Node" }, eventTime: "2026-01-01T00:04:00.000000Z", reportingComponent: "c" },
			text: "60s |  |  | node |  | c |  | 60s | 1",
		},
	])("$what", ({ type, parts, metadata, text }) => {
		expect(row(type, parts, metadata)).toBe(text);
	});
});

function status(parts: Partial<ContainerStatus>): ContainerStatus {
	return { name: "a", ready: false, restartCount: 0, image: "", imageID: "", ...parts };
}

const running = status({ ready: true, state: { running: {} } });
const crashed = status({
	restartCount: 2,
	state: { waiting: { reason: "CrashLoopBackOff" } },
	lastState: { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:04:30Z" } },
});
const completed = status({ state: { terminated: { exitCode: 0, reason: "Completed" } } });
const failed = status({ state: { terminated: { exitCode: 3, reason: "Error" } } });

function podRow(spec: Partial<PodSpec>, podStatus: PodStatus, metadata: Partial<ObjectMeta> = {}): string {
	const containers = [{ name: "a" }, { name: "b" }];
	const object: Pod = {
		apiVersion: "v1",
		kind: "Pod",
		metadata: metadataOf("web", metadata),
		spec: { containers, ...spec },
		status: podStatus,
	};
	return POD.table.cells(object, NOW_MS).slice(1, 4).join(" | ");
}

describe("rows of Pods", () => {
	const inits = { initContainers: [{ name: "i" }, { name: "j" }] };
	const sidecar = { initContainers: [{ name: "i", restartPolicy: "Always" }] };
	const isReady = { conditions: [{ type: "Ready", status: "True" }] } as const;
	test.each<{ what: string; spec?: Partial<PodSpec>; status: PodStatus; metadata?: Partial<ObjectMeta>; text: string }>(
		[
			{ what: "pending", status: { phase: "Pending" }, text: "0/2 | Pending | 0" },
			{
				what: "running",
				status: { phase: "Running", containerStatuses: [running, running] },
				text: "2/2 | Running | 0",
			},
			{
				what: "a reason wins over the phase",
				status: { phase: "Failed", reason: "Evicted" },
				text: "0/2 | Evicted | 0",
			},
			{
				what: "gated",
				status: {
					phase: "Pending",
					conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
				},
				text: "0/2 | SchedulingGated | 0",
			},
			{
				what: "the first container with a problem wins",
				status: { phase: "Running", containerStatuses: [crashed, failed] },
				text: "0/2 | CrashLoopBackOff | 2 (30s ago)",
			},
			{
				what: "an end without a reason shows its code",
				status: { phase: "Failed", containerStatuses: [status({ state: { terminated: { exitCode: 2 } } })] },
				text: "0/2 | ExitCode:2 | 0",
			},
			{
				what: "one completed, one runs, and the pod is ready",
				status: { phase: "Running", containerStatuses: [completed, running], ...isReady },
				text: "1/2 | Running | 0",
			},
			{
				what: "one completed, one runs, and the pod is not ready",
				status: { phase: "Running", containerStatuses: [completed, running] },
				text: "1/2 | NotReady | 0",
			},
			{
				what: "one completed, one failed",
				status: { phase: "Failed", containerStatuses: [completed, failed] },
				text: "0/2 | Error | 0",
			},
			{
				what: "init containers count up",
				spec: inits,
				status: { phase: "Pending", initContainerStatuses: [completed, status({ state: { running: {} } })] },
				text: "0/2 | Init:1/2 | 0",
			},
			{
				what: "an init container that fails",
				spec: inits,
				status: {
					phase: "Pending",
					initContainerStatuses: [status({ restartCount: 4, state: { terminated: { exitCode: 1, signal: 9 } } })],
				},
				text: "0/2 | Init:Signal:9 | 4",
			},
			{
				what: "a sidecar counts as a container",
				spec: sidecar,
				status: {
					phase: "Running",
					initContainerStatuses: [status({ name: "i", ready: true, started: true, restartCount: 1 })],
					containerStatuses: [running, running],
				},
				text: "3/3 | Running | 1",
			},
			{
				what: "terminating",
				status: { phase: "Running", containerStatuses: [running, running] },
				metadata: { deletionTimestamp: "2026-01-01T00:05:00Z" },
				text: "2/2 | Terminating | 0",
			},
			{
				what: "on a lost node",
				status: { phase: "Running", reason: "NodeLost" },
				metadata: { deletionTimestamp: "2026-01-01T00:05:00Z" },
				text: "0/2 | Unknown | 0",
			},
		],
	)("$what", ({ spec = {}, status: podStatus, metadata = {}, text }) => {
		expect(podRow(spec, podStatus, metadata)).toBe(text);
	});

	test("wide columns: address, node, nominated node and gates", () => {
		const spec = {
			containers: [],
			nodeName: "n1",
			readinessGates: [{ conditionType: "a/b" }, { conditionType: "a/c" }],
		};
		const podStatus = { podIP: "1.1.1.1", podIPs: [{ ip: "10.0.0.1" }], conditions: [{ type: "a/b", status: "True" }] };
		const object = { apiVersion: "v1", kind: "Pod", metadata: metadataOf("web"), spec, status: podStatus };
		expect(POD.table.cells(object, NOW_MS).slice(5)).toEqual(["10.0.0.1", "n1", "<none>", "1/2"]);
	});

	test("a finished pod says so in its row", () => {
		const object = {
			apiVersion: "v1",
			kind: "Pod",
			metadata: metadataOf("web"),
			spec: {},
			status: { phase: "Failed" },
		};
		expect(POD.table.rowConditions?.(object)).toEqual([
			{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
		]);
	});
});
