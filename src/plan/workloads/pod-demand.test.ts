import { describe, expect, test } from "vitest";
import type { Container, ContainerPort, Pod } from "../../api/types/core.ts";
import type { StringMap } from "../../api/types/meta.ts";
import { pod } from "../../testing/builders.ts";
import { type Demand, demandOf, hasPortConflict, insufficientOf } from "./pod-demand.ts";

function asking(requests: StringMap, more: Partial<Container> = {}): Container {
	return { name: "c", resources: { requests }, ...more };
}

function demanded(spec: Partial<Pod["spec"]>): Demand | undefined {
	return demandOf(pod("p", { spec }));
}

describe("demandOf", () => {
	const sidecar = { restartPolicy: "Always" };
	test.each<readonly [string, Partial<Pod["spec"]>, Readonly<Record<string, number>> | undefined]>([
		["a Pod without requests asks for nothing", {}, undefined],
		["nor does one that requests zero", { containers: [asking({ cpu: "0" })] }, undefined],
		["containers add up", { containers: [asking({ cpu: "100m" }), asking({ cpu: "1" })] }, { cpu: 1.1 }],
		[
			"an init container counts when it alone needs more",
			{
				initContainers: [asking({ cpu: "2", memory: "1k" }), asking({ cpu: "1" })],
				containers: [asking({ cpu: "1", memory: "2k" })],
			},
			{ cpu: 2, memory: 2000 },
		],
		[
			"a sidecar runs beside the containers",
			{ initContainers: [asking({ cpu: "1" }, sidecar)], containers: [asking({ cpu: "1" })] },
			{ cpu: 2 },
		],
		[
			"and beside the init containers after it, not those before it",
			{
				initContainers: [asking({ cpu: "3" }), asking({ cpu: "1" }, sidecar), asking({ cpu: "4" })],
				containers: [asking({ cpu: "1" })],
			},
			{ cpu: 5 },
		],
		[
			"what the Pod requests as a whole stands in for its containers, overhead comes on top",
			{ containers: [asking({ cpu: "1" })], resources: { requests: { cpu: "3" } }, overhead: { cpu: "500m" } },
			{ cpu: 3.5 },
		],
	])("%s", (_, spec, expected) => {
		const demand = demanded(spec);
		const amounts = demand && [...demand.requests].map(([name, nanos]) => [name, Number(nanos) / 1e9]);
		expect(amounts && Object.fromEntries(amounts)).toEqual(expected);
	});
});

test.each<readonly [string, Partial<ContainerPort>, Partial<ContainerPort>, boolean]>([
	["the same port is taken", { hostPort: 80 }, { hostPort: 80, protocol: "TCP" }, true],
	["another port is free", { hostPort: 80 }, { hostPort: 81 }, false],
	["another protocol is free", { hostPort: 80 }, { hostPort: 80, protocol: "UDP" }, false],
	["another address is free", { hostPort: 80, hostIP: "10.0.0.1" }, { hostPort: 80, hostIP: "10.0.0.2" }, false],
	["all addresses need each", { hostPort: 80, hostIP: "0.0.0.0" }, { hostPort: 80, hostIP: "10.0.0.2" }, true],
	["all addresses take each", { hostPort: 80, hostIP: "10.0.0.1" }, { hostPort: 80 }, true],
	["a port of the container alone is nobody else's", { hostPort: 80 }, {}, false],
])("%s", (_, wanted, taken, expected) => {
	const [mine, other] = [wanted, taken].map((port) =>
		demanded({ containers: [asking({ cpu: "1" }, { ports: [{ containerPort: 80, ...port }] })] }),
	);
	expect(mine && hasPortConflict(mine, other)).toBe(expected);
});

test("a sidecar's host port counts, an init container's does not", () => {
	const ports = [{ containerPort: 80, hostPort: 80 }];
	expect(demanded({ initContainers: [{ name: "i", ports, restartPolicy: "Always" }] })?.ports.size).toBe(1);
	expect(demanded({ initContainers: [{ name: "i", ports }] })).toBeUndefined();
});

test.each<readonly [string, StringMap, StringMap, StringMap | undefined, readonly string[]]>([
	["exactly what is left fits", { cpu: "500m" }, { cpu: "1500m" }, { cpu: "2" }, []],
	["a thousandth more does not", { cpu: "501m" }, { cpu: "1500m" }, { cpu: "2" }, ["Insufficient cpu"]],
	[
		"each resource is told of",
		{ cpu: "3", memory: "2Gi", "example.com/gpu": "1" },
		{ "example.com/gpu": "1" },
		{ cpu: "2", memory: "1Gi", "example.com/gpu": "1" },
		["Insufficient cpu", "Insufficient memory", "Insufficient example.com/gpu"],
	],
	["what the node does not name it has none of", { cpu: "1m" }, {}, { memory: "1" }, ["Insufficient cpu"]],
	["a node that says nothing of what it has takes anything", { cpu: "99" }, {}, undefined, []],
])("%s", (_, wanted, taken, allocatable, expected) => {
	const [mine, others] = [wanted, taken].map((requests) => demanded({ containers: [asking(requests)] }));
	expect(mine && insufficientOf(mine, others, allocatable)).toEqual(expected);
});
