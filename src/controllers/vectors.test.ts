/** Inputs with the writes that upstream's controllers made for them; `npm run vectors -- DIR` runs others. */
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runVector } from "../testing/run-vector.ts";
import { readVector, type Vector, vectorFiles } from "../testing/vector.ts";
import { vectorDifferences } from "../testing/vector-differences.ts";

const FOLDER = "testdata/vectors";

describe.each(["endpointslice", "endpoints", "mirroring"])("the %s controller writes what upstream writes", (room) => {
	test.each(vectorFiles(path.join(FOLDER, room)).map((file) => path.basename(file, ".json")))("%s", async (name) => {
		const vector = readVector(path.join(FOLDER, room, `${name}.json`));
		expect(vectorDifferences(vector, await runVector(vector))).toEqual([]);
	});
});

describe("a difference is found, and said in lines", () => {
	const vector: Vector = readVector(path.join(FOLDER, "endpointslice/create-3-pods.json"));
	const [slice] = vector.expected.created ?? [];
	const endpoints = slice?.endpoints ?? [];
	const { addressType = "IPv4", ports = [] } = slice ?? {};

	test.each([
		["nothing", vector.expected, []],
		["a write that is missing", { ...vector.expected, created: [] }, ["calls: - create 1, update 0, delete 0"]],
		[
			"a write too much",
			{ ...vector.expected, deleted: ["web-1"] },
			["calls: + create 1, update 0, delete 1", "deleted: + web-1"],
		],
		["another error", { ...vector.expected, error: "boom" }, ["error: - none", "error: + boom"]],
		["an Event too much", { ...vector.expected, events: ["Normal Sync"] }, ["events: + Normal Sync"]],
		[
			"an endpoint that is not ready",
			{
				...vector.expected,
				created: [
					{
						...slice,
						addressType,
						ports,
						endpoints: endpoints.map((endpoint, at) => (at === 1 ? { ...endpoint, conditions: {} } : endpoint)),
					},
				],
			},
			[
				'created: + {"addresses":["10.1.0.2"],"nodeName":"node-1","targetRef":' +
					'{"kind":"Pod","name":"pod-1","namespace":"ns","uid":"uid-1"},"zone":"zone-b"}',
			],
		],
	])("%s", (_, writes, lines) => {
		const differences = vectorDifferences(vector, writes);
		if (lines.length === 0) expect(differences).toEqual([]);
		expect(differences).toEqual(expect.arrayContaining(lines));
	});
});
