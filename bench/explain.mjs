#!/usr/bin/env node
/**
 * Explains every Service of a large snapshot in memory; prints JSON.
 *
 *     node bench/explain.mjs --pods 150000 --services 10000
 */
import { parseArgs } from "node:util";
import { Explainer } from "../dist/explain/explain.js";

const { values } = parseArgs({
	options: { pods: { type: "string", default: "150000" }, services: { type: "string", default: "10000" } },
});
const NAMESPACES = 100;
const perNamespace = Math.ceil(Number(values.services) / NAMESPACES);
const podsPerService = Math.max(1, Math.floor(Number(values.pods) / Number(values.services)));
const READY = [{ type: "Ready", status: "True" }];
const CONTAINERS = [{ name: "c", ports: [{ containerPort: 8080 }] }];
const LABELS = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };

const snapshot = {
	services: [],
	pods: [],
	slices: [],
	endpoints: [],
	nodes: [],
	workloads: [],
	events: [],
	leases: [],
	missing: [],
};
snapshot.nodes.push({ kind: "Node", metadata: { name: "n1" } });
for (let index = 0; index < NAMESPACES * perNamespace; index++) {
	const namespace = `ns-${index % NAMESPACES}`;
	const name = `service-${index}`;
	const ips = Array.from({ length: podsPerService }, (_, pod) => `10.${index >> 8}.${index & 255}.${pod & 255}`);
	snapshot.services.push({
		kind: "Service",
		metadata: { name, namespace, creationTimestamp: "" },
		spec: {
			clusterIP: "10.96.0.1",
			ipFamilies: ["IPv4"],
			selector: { app: name },
			ports: [{ name: "http", port: 80, targetPort: 8080 }],
		},
	});
	for (const [pod, podIP] of ips.entries()) {
		const metadata = { name: `${name}-${pod}`, namespace, labels: { app: name, tier: "bench" } };
		const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions: READY };
		snapshot.pods.push({ kind: "Pod", metadata, spec: { nodeName: "n1", containers: CONTAINERS }, status });
	}
	snapshot.slices.push({
		kind: "EndpointSlice",
		metadata: { name: `${name}-x`, namespace, labels: { ...LABELS, "kubernetes.io/service-name": name } },
		addressType: "IPv4",
		ports: [{ name: "http", port: 8080, protocol: "TCP" }],
		endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true }, nodeName: "n1" })),
	});
}
const startedMs = performance.now();
const all = new Explainer(snapshot).explainAll();
const tookMs = Math.round(performance.now() - startedMs);
const inTrouble = all.filter(({ cause }) => cause !== undefined).length;
process.stdout.write(`${JSON.stringify({ pods: snapshot.pods.length, services: all.length, inTrouble, tookMs })}\n`);
