import { describe, expect, test } from "vitest";
import { tablePort, targets } from "../../testing/table-ports.ts";
import { type Decision, decisionFields } from "./decision.ts";
import type { Route } from "./node-rules.ts";
import type { TablePort } from "./service-table.ts";

const ASKED = { ip: "10.96.0.10", port: 80, protocol: "TCP" } as const;
const [FIRST = { ip: "", port: 0 }, SECOND = FIRST] = targets(1, 2);

function forward(more: Partial<TablePort> = {}): Route {
	const port = tablePort({ cluster: targets(1, 2), ...more });
	const shared = { serviceKey: "demo/web", port, destination: "cluster-ip", isMasqueraded: false } as const;
	return { kind: "forward", ...shared, targets: port.cluster };
}

function fields(more: Partial<Decision>): Record<string, unknown> {
	const client = { ip: "127.0.0.1", place: "pod" } as const;
	return decisionFields({ node: "", asked: ASKED, client, route: forward(), failed: [], ...more });
}

describe("decisionFields()", () => {
	test("say who went where, and why there", () => {
		const target = { ...FIRST, podKey: "demo/web-1", nodeName: "n1" };
		expect(fields({ node: "n2", chosen: { target, by: "round robin" } })).toEqual({
			node: "n2",
			client: "127.0.0.1",
			clientPlace: "pod",
			asked: "10.96.0.10:80/TCP",
			service: "demo/web",
			port: "http",
			destination: "cluster-ip",
			candidates: 2,
			hints: "none",
			verdict: "forward",
			endpoint: "10.244.0.1:8080",
			pod: "demo/web-1",
			endpointNode: "n1",
			by: "round robin",
		});
	});

	test("say why hints are ignored, and what was skipped", () => {
		const route = forward({
			hints: { mode: "none", ignored: "this node has no zone" },
			skipped: [{ ...SECOND, why: "not ready" }],
		});
		expect(fields({ route })).toMatchObject({
			hintsIgnored: "this node has no zone",
			skipped: ["10.244.0.2:8080: not ready"],
		});
	});

	test("name ten skipped endpoints, and count the rest", () => {
		const skipped = Array.from({ length: 12 }, () => ({ ...SECOND, why: "not ready" as const }));
		const shown = fields({ route: forward({ skipped }) });
		expect([shown["skipped"], shown["skippedMore"]]).toEqual([Array(10).fill("10.244.0.2:8080: not ready"), 2]);
	});

	test("name endpoints that did not answer, and say when none did", () => {
		expect(fields({ failed: [{ target: FIRST, message: "ECONNREFUSED" }] })).toMatchObject({
			failed: ["10.244.0.1:8080: ECONNREFUSED"],
			reason: "no endpoint answered",
		});
	});

	test.each<{ route: Route; shown: object }>([
		{ route: { kind: "drop", why: "no Service has it" }, shown: { verdict: "drop", reason: "no Service has it" } },
		{ route: { kind: "absent", why: "no Service's" }, shown: { verdict: "direct", reason: "no Service's" } },
		{
			route: {
				kind: "reject",
				why: "the Service has no endpoints",
				serviceKey: "demo/web",
				port: tablePort({ isExternalLocal: true, name: "" }),
				destination: "external",
			},
			shown: { verdict: "reject", reason: "the Service has no endpoints", policy: "Local", candidates: 0 },
		},
	])("give the reason for $route.kind", ({ route, shown }) => {
		expect(fields({ route })).toMatchObject(shown);
	});
});
