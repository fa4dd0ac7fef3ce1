/** What controllers keep in mind between two syncs. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
import type { OwnerReference } from "../api/types/meta.ts";
import type { Demand } from "../plan/workloads/pod-demand.ts";
import { pod } from "../testing/builders.ts";
import { NodeLoads } from "./node-loads.ts";
import { ObjectGraph } from "./object-graph.ts";
import { SeenWrites } from "./seen-writes.ts";

describe("SeenWrites", () => {
	test("a cache is behind until it is as of the newest write for the key", () => {
		const writes = new SeenWrites();
		writes.wrote("a", "12");
		writes.wrote("a", "9");
		expect([undefined, "9", "11"].map((asOf) => writes.isBehind("a", asOf))).toEqual([true, true, true]);
		expect(writes.isBehind("a", "12")).toBe(false);
	});

	test("what was seen once is not asked for again", () => {
		const writes = new SeenWrites();
		writes.wrote("a", "12");
		writes.isBehind("a", "12");
		expect(writes.isBehind("a", "3")).toBe(false);
	});

	test("other keys, and answers without a version, hold nobody up", () => {
		const writes = new SeenWrites();
		writes.wrote("a", "12");
		writes.wrote("b", undefined);
		writes.wrote("b", "");
		expect(writes.isBehind("b", "1")).toBe(false);
		writes.forget("a");
		expect(writes.isBehind("a", "1")).toBe(false);
	});
});

describe("NodeLoads", () => {
	test("counts Pods of a node, and those of one workload", () => {
		const loads = new NodeLoads();
		loads.put("1", "n1", "web");
		loads.put("2", "n1", "api");
		loads.put("3", "n2", "web");
		expect(loads.on("n1", "web")).toEqual({ count: 2, siblings: 1 });
		expect(loads.on("n3", "web")).toEqual({ count: 0, siblings: 0 });
	});

	test("counts a Pod once, and takes it off once", () => {
		const loads = new NodeLoads();
		loads.put("1", "n1", "web");
		loads.put("1", "n1", "web");
		expect(loads.on("n1", "web")).toEqual({ count: 1, siblings: 1 });
		expect([loads.remove("1"), loads.remove("1")]).toEqual([true, false]);
		expect(loads.on("n1", "web")).toEqual({ count: 0, siblings: 0 });
	});
});

describe("NodeLoads of Pods that ask for something", () => {
	const amounts = (cpu: bigint): Demand => ({
		requests: new Map([["cpu", cpu]]),
		ports: new Set([{ ip: "0.0.0.0", protocol: "TCP", port: 80 }]),
	});

	test("add up, and leave nothing behind", () => {
		const loads = new NodeLoads();
		loads.put("1", "n1", "web", amounts(3n));
		loads.put("2", "n1", "web", amounts(4n));
		loads.put("3", "n1", "web");
		expect(loads.on("n1", "web").demand?.requests).toEqual(new Map([["cpu", 7n]]));
		loads.remove("1");
		expect(loads.on("n1", "web").demand).toEqual(amounts(4n));
		loads.remove("2");
		expect(loads.on("n1", "web")).toEqual({ count: 1, siblings: 1 });
	});
});

describe("ObjectGraph", () => {
	const uids = fc.constantFrom("a", "b", "c", "d");
	const step = fc.oneof(
		fc.record({ put: uids, owners: fc.uniqueArray(uids, { maxLength: 3 }) }),
		fc.record({ remove: uids }),
	);

	function referenceTo(uid: string): OwnerReference {
		return { apiVersion: "v1", kind: "Pod", name: uid, uid };
	}

	test("knows the dependents of every owner, whether that is there or not, in whatever order they come", () => {
		fc.assert(
			fc.property(fc.array(step), (steps) => {
				const graph = new ObjectGraph();
				const there = new Map<string, readonly string[]>();
				for (const each of steps) {
					if ("put" in each) {
						there.set(each.put, each.owners);
						const metadata = { uid: each.put, ownerReferences: each.owners.map(referenceTo) };
						graph.put(PODS, pod(each.put, { metadata }));
					} else {
						there.delete(each.remove);
						graph.remove(pod(each.remove, { metadata: { uid: each.remove } }));
					}
				}
				for (const uid of ["a", "b", "c", "d"]) {
					const expected = [...there].filter(([, owners]) => owners.includes(uid)).map(([name]) => name);
					const found = graph.dependentsOf(uid).map(({ object }) => object.metadata.uid);
					expect(found.sort()).toEqual(expected.sort());
				}
			}),
		);
	});
});
