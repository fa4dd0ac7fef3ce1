import { describe, expect, test } from "vitest";
import type { Endpoint } from "../api/types/discovery.ts";
import { node } from "../testing/builders.ts";
import { good, pod, slice, web } from "../testing/explained-objects.ts";
import { worldOf } from "../testing/explained-worlds.ts";
import type { ClientOrigin } from "./client-place.ts";
import { explainService } from "./explain.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

const NODES = [node("n1", "a"), node("n2", "a"), node("n3", "b")];

/** `1 n1 a`: address 10.244.0.1 on n1, hinted at zone a; more words are its state. */
function endpoint(text: string): Endpoint {
	const [at, nodeName = "", zone = "", state = "ready"] = text.split(" ");
	return {
		addresses: [`10.244.0.${at}`],
		conditions: {
			ready: state === "ready",
			serving: state !== "unready",
			terminating: state === "terminating",
		},
		nodeName,
		...(zone === "" || zone === "-" ? {} : { hints: { forZones: [{ name: zone }] } }),
	};
}

function world(endpoints: readonly string[], spec: Parameters<typeof web>[0] = {}): Partial<ClusterSnapshot> {
	return { services: [web(spec)], nodes: NODES, slices: [slice({ more: { endpoints: endpoints.map(endpoint) } })] };
}

function reached(snapshot: Partial<ClusterSnapshot>, from?: ClientOrigin): readonly string[] {
	const target = { namespace: "default", name: "web", ...(from === undefined ? {} : { from }) };
	const { chain } = explainService({ ...worldOf(snapshot), missing: ["Pod"] }, target);
	return chain.find(({ link }) => link === "reached")?.lines ?? [];
}

const at = (name: string): ClientOrigin => ({ kind: "node", name });
const zone = (name: string): ClientOrigin => ({ kind: "zone", name });

describe("what is reached", () => {
	test("are all that are ready, and why others are left out", () => {
		expect(reached(world(["1 n1", "2 n2 - unready", "3 n3 - terminating"]))).toEqual([
			"http -> 10.244.0.1:8080 (on n1); left out: 10.244.0.2:8080 (not ready), 10.244.0.3:8080 (terminating, and others are ready)",
		]);
	});

	test("are those that are terminating when there are no others", () => {
		expect(reached(world(["1 n1 - terminating", "2 n2 - unready"]))[0]).toMatch(
			/^http -> 10\.244\.0\.1:8080 \(on n1\)/,
		);
	});

	test("are by hints those of the zone of the node", () => {
		expect(reached(world(["1 n1 a", "2 n3 b"]), at("n3"))).toEqual([
			"from n3: http -> 10.244.0.2:8080 (on n3); by hints: PreferSameZone; left out: 10.244.0.1:8080 (hinted at other zones)",
		]);
	});

	test("are all where hints do not hold, and it is said why", () => {
		expect(reached(world(["1 n1 a", "2 n1 a"]), zone("b"))).toEqual([
			"from zone b: http -> 10.244.0.1:8080 (on n1), 10.244.0.2:8080 (on n1); hints are ignored: no hint names this zone",
		]);
	});

	test("are under policy Local what the node has: nodes of a zone are told apart", () => {
		expect(reached(world(["1 n1"], { internalTrafficPolicy: "Local" }), zone("a"))).toEqual([
			"from zone a: on n1: http -> 10.244.0.1:8080 (on n1)",
			"from zone a: on n2: http -> nothing: dropped, no endpoint is on the node",
		]);
	});

	test("are told of node by node when nobody asks from anywhere", () => {
		expect(reached(world(["1 n1"], { internalTrafficPolicy: "Local" }))).toEqual([
			"on n1: http -> 10.244.0.1:8080 (on n1)",
			"on other nodes: http -> nothing: dropped, no endpoint is on the node",
		]);
		expect(reached(world(["1 n1 a", "2 n3 b"]))).toEqual([
			"http -> 10.244.0.1:8080 (on n1), 10.244.0.2:8080 (on n3); hints hold by where the client is (--from-zone, --from-node)",
		]);
	});

	test("are told of once when all nodes of a zone see the same", () => {
		expect(reached(world(["1 n1"]), zone("a"))).toEqual(["from zone a: http -> 10.244.0.1:8080 (on n1)"]);
	});

	test("are others from outside under an external policy Local", () => {
		const spec = {
			type: "NodePort",
			externalTrafficPolicy: "Local",
			ports: [{ name: "http", port: 80, nodePort: 30080 }],
		};
		expect(reached(world(["1 n1"], spec as never), at("n2"))).toEqual([
			"from n2: http -> 10.244.0.1:8080 (on n1)",
			"from n2: http, from outside the cluster -> nothing: dropped, no endpoint is on the node",
		]);
	});

	test("are found by name where there is no cluster IP", () => {
		expect(reached(world(["1 n1", "2 n2 - unready"], { clusterIP: "None", clusterIPs: ["None"] }))).toEqual([
			"by its name: 10.244.0.1",
		]);
	});
});

describe("a Pod that asks", () => {
	const from: ClientOrigin = { kind: "pod", namespace: "other", name: "client" };
	const client = pod({ name: "client", namespace: "other", labels: {}, spec: { nodeName: "n2" } });

	test("is on its node, and has to name the namespace", () => {
		const snapshot = worldOf({ ...good, pods: [pod(), client] });
		const { chain } = explainService(snapshot, { namespace: "default", name: "web", from });
		const text = chain.flatMap(({ lines }) => lines);
		expect(text).toContain("web.default.svc (web is not enough) -> 10.96.0.10");
		expect(text.at(-1)).toMatch(/^from Pod other\/client on n2: http -> 10\.244\.0\.1:8080/);
	});

	test.each([
		["that does not exist", [], "There is no Pod client in namespace other to ask from."],
		["that is on no node", [{ ...client, spec: { containers: [] } }], "Pod other/client is on no node yet"],
	])("%s is told of", (_rule, pods, says) => {
		const snapshot = worldOf({ ...good, pods: [pod(), ...pods] });
		const { findings } = explainService(snapshot, { namespace: "default", name: "web", from });
		expect(findings.find(({ name }) => name === "client-pod-unknown")?.text).toContain(says);
	});
});
