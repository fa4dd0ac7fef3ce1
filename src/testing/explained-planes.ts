/** Random planes whose Services are all well, and the same with one fault planted, for `explain`. */

import { DEPLOYMENTS, ENDPOINT_SLICES, ENDPOINTS, LEASES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Service } from "../api/types/core.ts";
import { ENDPOINTSLICE_CONTROLLER } from "../api/well-known.ts";
import type { CodeName } from "../explain/codes.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { SeededRandom } from "./seeded.ts";
import { startTestPlane, type TestPlane } from "./test-plane.ts";

const SERVICES_PER_PLANE = 4;
/** Time for Deployments to be there. */
const START_MS = 10_000;
/** Time for a fault to come to something; what is younger than half a minute may be a controller's delay. */
const FAULT_MS = 60_000;

type Spec = Service["spec"];

/** Runs `use` on a plane of the seed. @param controllers Which run; default all. */
export async function withHealthyPlane<T>(
	seed: number,
	use: (plane: TestPlane) => Promise<T>,
	controllers: readonly string[] = ["*"],
): Promise<T> {
	const random = new SeededRandom(seed);
	const isDual = random.next() < 0.5;
	const plane = await startTestPlane({
		seed,
		nodes: 3,
		zones: ["a", "b", "c"],
		controllers,
		...(isDual
			? { clusterCIDRs: ["10.244.0.0/16", "fd00:244::/56"], serviceCIDRs: ["10.96.0.0/16", "fd00:96::/112"] }
			: {}),
	});
	try {
		for (let index = 0; index < SERVICES_PER_PLANE; index++)
			await addService(plane.client, `s${index}`, random, isDual);
		await plane.advance(START_MS);
		return await use(plane);
	} finally {
		await plane.stop();
	}
}

async function addService(client: ApiClient, name: string, random: SeededRandom, isDual: boolean): Promise<void> {
	const pick = <T>(...choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)] as T;
	const kind = pick("ClusterIP", "NodePort", "LoadBalancer", "headless", "ExternalName", "manual");
	if (kind === "ExternalName") {
		await client.create(SERVICES, "default", {
			metadata: { name },
			spec: { type: kind, externalName: `${name}.example.com` } as Spec,
		});
		return;
	}
	const targetPort = pick<string | number>(8080, "http");
	const spec = {
		...(kind === "headless" ? { clusterIP: "None" } : { type: kind === "manual" ? "ClusterIP" : kind }),
		...(isDual ? { ipFamilyPolicy: pick("SingleStack", "PreferDualStack", "RequireDualStack") } : {}),
		...(pick(true, false) ? { sessionAffinity: "ClientIP" } : {}),
		...(pick(true, false) ? { internalTrafficPolicy: "Local" } : {}),
		...((kind === "NodePort" || kind === "LoadBalancer") && pick(true, false)
			? { externalTrafficPolicy: "Local" }
			: {}),
		...(kind !== "manual" && pick(true, false)
			? { trafficDistribution: pick("PreferSameZone", "PreferSameNode") }
			: {}),
		...(pick(true, false, false) ? { publishNotReadyAddresses: true } : {}),
		ports: [{ name: "http", port: 80, ...(kind === "manual" ? {} : { targetPort }) }],
	} as Spec;
	if (kind === "manual") {
		await client.create(SERVICES, "default", {
			metadata: { name },
			spec: { ...spec, ipFamilyPolicy: "SingleStack" } as Spec,
		});
		await client.create(ENDPOINT_SLICES, "default", manualSlice(name));
		return;
	}
	await client.create(SERVICES, "default", { metadata: { name }, spec: { ...spec, selector: { app: name } } });
	await client.create(DEPLOYMENTS, "default", deployment(name, pick(1, 2, 5)));
}

function manualSlice(name: string) {
	return {
		metadata: {
			name: `${name}-1`,
			labels: { "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "me.example" },
		},
		addressType: "IPv4" as const,
		ports: [{ name: "http", port: 8080, protocol: "TCP" as const }],
		endpoints: [{ addresses: ["192.0.2.10"], conditions: {}, nodeName: "n1" }],
	};
}

function deployment(name: string, replicas: number) {
	const labels = { app: name };
	const containers = [{ name: "c", image: "x", ports: [{ name: "http", containerPort: 8080 }] }];
	return {
		metadata: { name },
		spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
	} as never;
}

/** A fault, how it is planted in a Service of one's own, and what it must be called. */
export interface Fault {
	readonly name: CodeName;
	/** Which controllers run; default all. */
	readonly controllers?: readonly string[];
	plant(plane: TestPlane): Promise<unknown>;
}

const VICTIM = "victim";

const VICTIM_PORTS = [{ name: "http", port: 80, targetPort: "http" as string | number }];

/** Not even a Deployment. */
const NO_PODS = -1;

/** @param replicas Of its Deployment. */
async function victim(client: ApiClient, spec: Partial<Spec>, replicas: number = 2): Promise<void> {
	const made: Spec = { selector: { app: VICTIM }, ports: VICTIM_PORTS, ...spec };
	await client.create(SERVICES, "default", { metadata: { name: VICTIM }, spec: made });
	if (replicas !== NO_PODS) await client.create(DEPLOYMENTS, "default", deployment(VICTIM, replicas));
}

/** A Service whose endpoints are made by hand. */
function unselected(client: ApiClient): Promise<Service> {
	return client.create(SERVICES, "default", { metadata: { name: VICTIM }, spec: { ports: VICTIM_PORTS } });
}

export const FAULTS: readonly Fault[] = [
	{ name: "selector-matches-no-pods", plant: ({ client }) => victim(client, { selector: { app: "victm" } }) },
	{ name: "selector-matches-no-pods", plant: ({ client }) => victim(client, { selector: { name: VICTIM } }) },
	{
		name: "named-port-missing-in-pod",
		plant: ({ client }) => victim(client, { ports: [{ name: "http", port: 80, targetPort: "web" }] as never }),
	},
	{
		name: "externalname-is-an-ip",
		plant: ({ client }) => victim(client, { type: "ExternalName", externalName: "10.1.2.3" }, NO_PODS),
	},
	{ name: "no-selector-and-no-manual-endpoints", plant: ({ client }) => unselected(client) },
	{
		name: "slice-without-service-name-label",
		async plant({ client }) {
			await unselected(client);
			const { metadata, ...slice } = manualSlice(VICTIM);
			await client.create(ENDPOINT_SLICES, "default", { ...slice, metadata: { name: metadata.name } });
		},
	},
	{
		name: "port-name-mismatch",
		async plant({ client }) {
			await unselected(client);
			await client.create(ENDPOINT_SLICES, "default", {
				...manualSlice(VICTIM),
				ports: [{ name: "web", port: 8080, protocol: "TCP" }],
			});
		},
	},
	{
		name: "matched-pods-not-ready",
		async plant({ client }) {
			await victim(client, {}, NO_PODS);
			const conditions = [{ conditionType: "example.com/gate" }];
			await client.create(PODS, "default", {
				metadata: { name: VICTIM, labels: { app: VICTIM } },
				spec: {
					readinessGates: conditions,
					containers: [{ name: "c", image: "x", ports: [{ name: "http", containerPort: 8080 }] }],
				},
			} as never);
		},
	},
	{
		name: "matched-pods-without-ip",
		async plant({ client }) {
			await victim(client, {}, NO_PODS);
			const spec = { nodeSelector: { no: "such" }, containers: [{ name: "c", image: "x" }] };
			await client.create(PODS, "default", { metadata: { name: VICTIM, labels: { app: VICTIM } }, spec } as never);
		},
	},
	{
		name: "stale-endpoints-of-removed-selector",
		async plant({ client, advance }) {
			await victim(client, {});
			// The controller has to have made its slices.
			await advance(START_MS);
			await client.patch(SERVICES, AT, { type: "merge", body: { spec: { selector: null } } });
		},
	},
	{
		name: "slice-with-wrong-service-name",
		async plant({ client }) {
			await unselected(client);
			const { metadata, ...slice } = manualSlice(VICTIM);
			const labels = { ...metadata.labels, "kubernetes.io/service-name": "victm" };
			await client.create(ENDPOINT_SLICES, "default", { ...slice, metadata: { ...metadata, labels } });
		},
	},
	{
		name: "slice-of-other-family",
		async plant({ client }) {
			await unselected(client);
			const endpoints = [{ addresses: ["2001:db8::1"], conditions: {} }];
			await client.create(ENDPOINT_SLICES, "default", { ...manualSlice(VICTIM), addressType: "IPv6", endpoints });
		},
	},
	{
		name: "only-fqdn-slices",
		async plant({ client }) {
			await unselected(client);
			const endpoints = [{ addresses: ["db.example.com"], conditions: {} }];
			await client.create(ENDPOINT_SLICES, "default", { ...manualSlice(VICTIM), addressType: "FQDN", endpoints });
		},
	},
	{
		name: "no-local-endpoint",
		async plant({ client }) {
			const spec: Spec = { ports: VICTIM_PORTS, internalTrafficPolicy: "Local" };
			await client.create(SERVICES, "default", { metadata: { name: VICTIM }, spec });
			const endpoints = [{ addresses: ["192.0.2.10"], conditions: {} }];
			await client.create(ENDPOINT_SLICES, "default", { ...manualSlice(VICTIM), endpoints });
		},
	},
	{
		name: "endpoints-not-mirrored",
		async plant({ client }) {
			await unselected(client);
			await byHand(client, { "endpointslice.kubernetes.io/skip-mirror": "true" });
		},
	},
	{
		name: "mirrored-slices-missing",
		controllers: ["*", "-endpointslice-mirroring-controller"],
		async plant({ client }) {
			await unselected(client);
			await byHand(client, {});
		},
	},
	{
		name: "slices-missing",
		controllers: ["*", "-endpointslice-controller"],
		plant: ({ client }) => victim(client, {}),
	},
	{
		name: "controller-not-running",
		controllers: ["*", "-endpointslice-controller"],
		async plant({ client }) {
			await victim(client, {});
			await client.create(LEASES, "kube-system", {
				metadata: { name: "kube-controller-manager" },
				spec: { holderIdentity: "cp-1", leaseDurationSeconds: 15, renewTime: "2025-12-31T23:00:00.000000Z" },
			});
		},
	},
	{
		name: "slices-out-of-date",
		controllers: ["*", "-endpointslice-controller"],
		async plant({ client }) {
			await victim(client, {});
			const { metadata, ...slice } = manualSlice(VICTIM);
			const labels = { ...metadata.labels, "endpointslice.kubernetes.io/managed-by": ENDPOINTSLICE_CONTROLLER };
			await client.create(ENDPOINT_SLICES, "default", { ...slice, metadata: { ...metadata, labels } });
		},
	},
	{ name: "workload-scaled-to-zero", plant: ({ client }) => victim(client, {}, 0) },
	{
		name: "pods-not-created",
		controllers: ["*", "-replicaset-controller"],
		plant: ({ client }) => victim(client, {}),
	},
	{
		name: "manual-endpoints-not-ready",
		async plant({ client }) {
			await unselected(client);
			const subsets = [{ notReadyAddresses: [{ ip: "192.0.2.10" }], ports: [{ name: "http", port: 8080 }] }];
			await client.create(ENDPOINTS, "default", { metadata: { name: VICTIM }, subsets });
		},
	},
	{
		name: "headless-label",
		async plant({ client }) {
			const labels = { "service.kubernetes.io/headless": "" };
			await client.create(SERVICES, "default", { metadata: { name: VICTIM, labels }, spec: { ports: VICTIM_PORTS } });
			await client.create(ENDPOINT_SLICES, "default", manualSlice(VICTIM));
		},
	},
	{
		name: "endpoints-of-missing-pods",
		async plant({ client }) {
			await unselected(client);
			const targetRef = { kind: "Pod", namespace: "default", name: "gone" };
			const endpoints = [{ addresses: ["192.0.2.10"], conditions: {}, targetRef }];
			await client.create(ENDPOINT_SLICES, "default", { ...manualSlice(VICTIM), endpoints });
		},
	},
	{
		name: "externalname-target-missing",
		plant: ({ client }) =>
			victim(client, { type: "ExternalName", externalName: "no.default.svc.cluster.local" }, NO_PODS),
	},
	{
		name: "externalname-target-in-trouble",
		async plant({ client }) {
			const spec: Spec = { type: "ExternalName", externalName: "broken.default.svc" };
			await client.create(SERVICES, "default", { metadata: { name: VICTIM }, spec });
			await client.create(SERVICES, "default", {
				metadata: { name: "broken" },
				spec: { selector: { app: "none" }, ports: VICTIM_PORTS },
			});
		},
	},
	{
		name: "externalname-loop",
		async plant({ client }) {
			const to = (name: string): Spec => ({ type: "ExternalName", externalName: `${name}.default.svc.cluster.local` });
			await client.create(SERVICES, "default", { metadata: { name: VICTIM }, spec: to("other") });
			await client.create(SERVICES, "default", { metadata: { name: "other" }, spec: to(VICTIM) });
		},
	},
	{
		name: "matched-pods-all-finished",
		async plant({ client }) {
			await victim(client, {}, NO_PODS);
			const spec = { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] };
			const annotations = { "sliceplane.dev/exit-after": "1s" };
			const metadata = { name: VICTIM, labels: { app: VICTIM }, annotations };
			await client.create(PODS, "default", { metadata, spec } as never);
		},
	},
];

const AT = { namespace: "default", name: VICTIM };

function byHand(client: ApiClient, labels: Readonly<Record<string, string>>): Promise<unknown> {
	const subsets = [{ addresses: [{ ip: "192.0.2.10" }], ports: [{ name: "http", port: 8080 }] }];
	return client.create(ENDPOINTS, "default", { metadata: { name: VICTIM, labels }, subsets });
}

/** Each seed has a fault of its own. */
export function faultOf(seed: number): Fault {
	return FAULTS[seed % FAULTS.length] as Fault;
}

/** Plants it, lets it come to something, and says in which Service it is. */
export async function planted(plane: TestPlane, fault: Fault): Promise<string> {
	await fault.plant(plane);
	await plane.advance(FAULT_MS);
	return VICTIM;
}
