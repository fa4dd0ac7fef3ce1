/** What a Pod says when it says nothing, and what the server adds to one that is created. */
import type { Container, Pod, PodSpec, PodStatus, Toleration } from "../types/core.ts";
import type { StringMap } from "../types/meta.ts";
import { withPodSpecDefaults } from "./pod-template-defaults.ts";

export function withPodDefaults(pod: Pod): Pod {
	const spec = withPodSpecDefaults(pod.spec ?? { containers: [] });
	const own = (container: Container): Container => withRequests(withHostPorts(container, spec.hostNetwork === true));
	return {
		...pod,
		spec: {
			...spec,
			containers: spec.containers.map(own),
			...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(own) }),
			enableServiceLinks: spec.enableServiceLinks ?? true,
		},
		status: withMirroredPodIP(pod.status ?? {}),
	};
}

/** A limit without a request asks for as much. Only in Pods: a template keeps what it says. */
function withRequests(container: Container): Container {
	const { limits, requests } = container.resources ?? {};
	return limits === undefined
		? container
		: { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

function withHostPorts(container: Container, isHostNetwork: boolean): Container {
	if (!isHostNetwork || container.ports === undefined) return container;
	const ports = container.ports.map((port) => ({ ...port, hostPort: port.hostPort || port.containerPort }));
	return { ...container, ports };
}

/** `podIP` is `podIPs[0]`. When they differ, the writer knew only the older, single field. */
function withMirroredPodIP(status: PodStatus): PodStatus {
	const { podIP = "", podIPs = [] } = status;
	const first = podIPs[0]?.ip;
	if (podIP === "") return first === undefined ? status : { ...status, podIP: first };
	return podIP === first ? status : { ...status, podIPs: [{ ip: podIP }] };
}

/** What admission and the registry of a real server add: no client sends it, many read it. */
export function prepareNewPod(pod: Pod): Pod {
	const spec = withAdmissionDefaults(pod.spec);
	return {
		...pod,
		spec,
		status: {
			phase: "Pending",
			...((spec.schedulingGates ?? []).length === 0 ? {} : { conditions: [SCHEDULING_GATED] }),
			qosClass: qosClassOf(spec),
		},
	};
}

const SCHEDULING_GATED = {
	type: "PodScheduled",
	status: "False",
	reason: "SchedulingGated",
	message: "Scheduling is blocked due to non-empty scheduling gates",
} as const;

function withAdmissionDefaults(spec: PodSpec): PodSpec {
	const account = spec.serviceAccountName ?? "default";
	const grace = spec.terminationGracePeriodSeconds;
	return {
		...withNodeTolerations(spec),
		serviceAccountName: account,
		serviceAccount: account,
		...(grace !== undefined && grace < 0 ? { terminationGracePeriodSeconds: 1 } : {}),
		...(spec.priorityClassName === undefined
			? { priority: spec.priority ?? 0, preemptionPolicy: spec.preemptionPolicy ?? "PreemptLowerPriority" }
			: {}),
	};
}

/** How long a pod stays on a node that is gone before it is moved. */
const TOLERATION_SECONDS = 300;

/** Also on updates, as in a real server: a writer that dropped them did not mean to. */
export function withNodeTolerations(spec: PodSpec): PodSpec {
	const { tolerations = [] } = spec;
	const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
		.filter((key) => !tolerations.some((toleration) => tolerates(toleration, key)))
		.map(
			(key): Toleration => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: TOLERATION_SECONDS }),
		);
	return added.length === 0 ? spec : { ...spec, tolerations: [...tolerations, ...added] };
}

function tolerates({ key = "", effect = "" }: Toleration, taint: string): boolean {
	return (key === "" || key === taint) && (effect === "" || effect === "NoExecute");
}

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ */
function qosClassOf(spec: PodSpec): string {
	const containers = [...(spec.initContainers ?? []), ...spec.containers];
	const resources = containers.map(({ resources: { requests = {}, limits = {} } = {} }) => ({ requests, limits }));
	if (resources.every(({ requests, limits }) => !asks(requests) && !asks(limits))) return "BestEffort";
	const isGuaranteed = resources.every(({ requests, limits }) =>
		["cpu", "memory"].every((name) => isAmount(limits[name]) && (requests[name] ?? limits[name]) === limits[name]),
	);
	return isGuaranteed ? "Guaranteed" : "Burstable";
}

function asks(amounts: StringMap): boolean {
	return isAmount(amounts["cpu"]) || isAmount(amounts["memory"]);
}

function isAmount(quantity: string | undefined): boolean {
	return quantity !== undefined && Number.parseFloat(quantity) !== 0;
}
