import { describe, expect, test } from "vitest";
import { merged } from "./merge.ts";
import { shapeOfMessage } from "./message-shape.ts";

const SERVICE = shapeOfMessage("core.Service");

function order(live: readonly number[], config: readonly number[]): readonly number[] {
	const list = (numbers: readonly number[]) => ({ spec: { ports: numbers.map((port) => ({ port })) } });
	const out = merged(SERVICE, list(live), list(config)) as { spec: { ports: readonly { port: number }[] } };
	return out.spec.ports.map(({ port }) => port);
}

describe("items of a list with keys", () => {
	test.each([
		["new ones come last", [1, 2], [3], [1, 2, 3]],
		["named ones stand as the configuration has them", [1, 2], [2, 1], [2, 1]],
		["unnamed ones stay where they stood", [1, 2, 3], [1, 3], [1, 2, 3]],
		["unnamed ones go before the named one that follows", [5, 1, 6, 2], [1, 2], [5, 1, 6, 2]],
		["new ones stand before the named one that they precede", [1, 2], [1, 7, 2], [1, 7, 2]],
		["a new one in front", [1], [7, 1], [7, 1]],
		["unnamed and new ones between the same two", [1, 5, 2], [1, 7, 2], [1, 5, 7, 2]],
		["duplicates of a named one become one", [1, 1, 2], [1], [1, 2]],
		["duplicates that are not named stay", [1, 1, 2], [2], [1, 1, 2]],
	])("%s", (_, live, config, out) => {
		expect(order(live, config)).toEqual(out);
	});

	test("are merged field by field, a protocol that is not given counting as TCP", () => {
		const live = {
			spec: {
				ports: [
					{ port: 1, protocol: "TCP", name: "x" },
					{ port: 1, protocol: "UDP" },
				],
			},
		};
		expect(merged(SERVICE, live, { spec: { ports: [{ port: 1, targetPort: 9 }] } })).toEqual({
			spec: {
				ports: [
					{ port: 1, protocol: "TCP", name: "x", targetPort: 9 },
					{ port: 1, protocol: "UDP" },
				],
			},
		});
	});
});

describe("other values", () => {
	test.each([
		[
			"sets unite",
			{ metadata: { finalizers: ["a/a"] } },
			{ metadata: { finalizers: ["b/b"] } },
			{ metadata: { finalizers: ["a/a", "b/b"] } },
		],
		[
			"atomic maps are replaced",
			{ spec: { selector: { a: "1" } } },
			{ spec: { selector: { b: "2" } } },
			{ spec: { selector: { b: "2" } } },
		],
		[
			"maps are merged",
			{ metadata: { labels: { a: "1" } } },
			{ metadata: { labels: { b: "2" } } },
			{ metadata: { labels: { a: "1", b: "2" } } },
		],
		["null replaces a scalar", { spec: { type: "A" } }, { spec: { type: null } }, { spec: { type: null } }],
		[
			"null leaves a map alone",
			{ metadata: { labels: { a: "1" } } },
			{ metadata: { labels: null } },
			{ metadata: { labels: { a: "1" } } },
		],
	])("%s", (_, live, config, out) => {
		expect(merged(SERVICE, live, config)).toEqual(out);
	});
});
