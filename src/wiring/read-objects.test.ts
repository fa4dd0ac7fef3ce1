import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import { Explainer } from "../explain/explain.ts";
import { explanationText } from "../explain/render.ts";
import { EXPLAINED_WORLDS } from "../testing/explained-worlds.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { type ObjectSource, readObjects } from "./read-objects.ts";

function source(text: string, size = 7): ObjectSource {
	return { file: "all.json", chunks: chunksOf(new TextEncoder().encode(text), size) };
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const POD = { kind: "Pod", metadata: { name: "web-1" }, spec: { containers: [], volumes: [{}] }, status: {} };

describe("readObjects()", () => {
	test.each([
		["a list of kubectl", JSON.stringify({ apiVersion: "v1", items: [POD], kind: "List" })],
		[
			"a list of the API, whose items have no kind",
			JSON.stringify({ kind: "PodList", items: [{ ...POD, kind: undefined }] }),
		],
		["one that says its kind at its end", JSON.stringify({ items: [{ ...POD, kind: undefined }], kind: "PodList" })],
		["a list in a list", JSON.stringify({ kind: "List", items: [{ kind: "List", items: [POD] }] })],
		["an object", JSON.stringify(POD)],
		["YAML", "# a Pod\nkind: Pod\nmetadata: {name: web-1}\nspec: {containers: [], volumes: [{}]}\n"],
		["YAML of a list", "kind: List\nitems:\n- kind: Pod\n  metadata: {name: web-1}\n"],
		["JSON after a mark of the byte order", `\uFEFF ${JSON.stringify(POD)}`],
	])("reads %s", async (_rule, text) => {
		const { snapshot } = await readObjects([source(text, 64)]);
		expect(snapshot.pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(["default/web-1"]);
		expect(snapshot.pods[0]?.spec).toEqual({ containers: [] });
		expect(snapshot.missing).toEqual(["Service", "Endpoints", "EndpointSlice", "Node", "Event"]);
	});

	test.each([
		["utf-16le", [0xff, 0xfe]],
		["utf-16be", [0xfe, 0xff]],
	])("reads %s, as PowerShell writes it", async (encoding, mark) => {
		const units = Buffer.from(JSON.stringify(POD), "utf16le");
		const bytes = Buffer.concat([Buffer.from(mark), encoding === "utf-16be" ? units.swap16() : units]);
		const { snapshot } = await readObjects([{ file: "all.json", chunks: chunksOf(bytes, 5) }]);
		expect(snapshot.pods.map(({ metadata }) => metadata.name)).toEqual(["web-1"]);
	});

	test("refuses what is compressed", async () => {
		const chunks = chunksOf(Uint8Array.of(0x1f, 0x8b, 8, 0), 4);
		await expect(readObjects([{ file: "all.json.gz", chunks }])).rejects.toThrow("gunzip -c all.json.gz");
	});

	test("puts what names no namespace into the one that is asked for", async () => {
		const { snapshot } = await readObjects([source(JSON.stringify(POD))], "shop");
		expect(snapshot.pods.map(({ metadata }) => metadata.namespace)).toEqual(["shop"]);
	});

	test("takes an empty list of a kind as a look at it", async () => {
		const text = JSON.stringify({ kind: "EndpointSliceList", items: [] });
		const { snapshot } = await readObjects([source(text), source("kind: PodList\nitems: []\n")]);
		expect(snapshot.missing).toEqual(["Service", "Endpoints", "Node", "Event"]);
	});

	test("knows where each object stands", async () => {
		const { origins } = await readObjects([source(`{"kind": "List", "items": [\n${JSON.stringify(POD)}]}`)]);
		expect([...origins]).toEqual([["Pod/default/web-1", { file: "all.json", line: 2 }]]);
	});

	test.each([
		["what has no kind in a list", '{"kind": "List", "items": [{"metadata": {}}]}'],
		["kinds that nothing depends on", '{"kind": "Secret", "metadata": {"name": "s"}, "data": {}}'],
		["kinds of other groups", '{"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": null}'],
	])("passes over %s", async (_rule, text) => {
		expect((await readObjects([source(text)])).origins.size).toBe(0);
	});

	test("does without what a manifest leaves out", async () => {
		const kinds = ["Service", "Pod", "Endpoints", "EndpointSlice", "Node", "Event", "Deployment"];
		const text = kinds.map((kind) => JSON.stringify({ kind, metadata: { name: "web" } })).join("\n");
		const { snapshot } = await readObjects([source(text)]);
		expect(new Explainer(snapshot).explain({ namespace: "default", name: "web" }).service).toBe("default/web");
	});

	test("refuses YAML beyond 50 MiB before it has all of it, with what to take instead", async () => {
		let given = 0;
		async function* endless(): AsyncGenerator<Uint8Array> {
			for (;;) {
				given++;
				yield new Uint8Array(1024 * 1024).fill(0x23);
			}
		}
		await expect(readObjects([{ file: "all.yaml", chunks: endless() }])).rejects.toThrow(
			"all.yaml: more than 50 MiB of YAML, which takes minutes: take kubectl get -o json",
		);
		expect(given).toBe(51);
	});

	test.each([
		['{"kind": "List", "items": [{"kind": "Pod"', "all.json: line 1, byte 41: want the end of an object or a list"],
		['{"kind": "List",\n"items": [{"kind": Pod}]}', "all.json: line 2, byte 36: want a value"],
		["kind: [", "all.json: yaml: line"],
		["", "all.json: want manifests"],
		['{"kind": "Pod", "metadata": {"name": 1}}', "all.json: line 1: want objects with kind and metadata.name"],
		["kind: Service\nmetadata: null\nspec: hello\n", "and this Service has no name"],
		["Name:         web\nNamespace:    default\nLabels:       <none>\n", "and this has no kind"],
		['[{"kind": "Pod"}]', "all.json: line 1: want an object of kind List, and it is a JSON array"],
	])("refuses %j with the place", async (text, says) => {
		await expect(readObjects([source(text)])).rejects.toThrow(says);
	});
});

/** Some value in it, anywhere, is another one, or gone. */
function mutated(value: unknown, random: SeededRandom): unknown {
	const pick = (count: number): number => Math.floor(random.next() * count);
	if (typeof value !== "object" || value === null || random.next() < 0.15) {
		return [null, undefined, "", "x", -1, 1e9, true, [], {}, [null], [{}], { x: 1 }][pick(12)];
	}
	const entries = Object.entries(value);
	if (entries.length === 0) return null;
	const at = pick(entries.length);
	const changed = entries.map(([key, own], index) => [key, index === at ? mutated(own, random) : own] as const);
	return Array.isArray(value) ? changed.map(([, own]) => own) : Object.fromEntries(changed);
}

test("what is wrong in objects is explained or refused with the file's name, and crashes nothing", async () => {
	const seed = 1;
	const random = new SeededRandom(seed);
	const worlds = Object.values(EXPLAINED_WORLDS).flatMap(({ fires, near }) => [fires, near]);
	let refused = 0;
	for (let run = 0; run < 3_000; run++) {
		const world = worlds[run % worlds.length] ?? {};
		const objects = Object.values(world)
			.flat()
			.filter((each): each is KubeObject => typeof each === "object");
		if (JSON.stringify(objects).length > 10_000) continue;
		const text = JSON.stringify({ kind: "List", items: mutated(objects, random) ?? [] });
		try {
			const { snapshot } = await readObjects([source(text, 1 << 16)]);
			const explainer = new Explainer(snapshot);
			explainer.explainAll({ kind: "zone", name: "a" });
			const found = explainer.explain({ namespace: "default", name: "web", from: { kind: "node", name: "n1" } });
			explanationText(found, { width: 80, isColoured: false });
		} catch (error) {
			refused++;
			expect(String(error), `seed ${seed}, run ${run}: ${text}`).toMatch(/^Error: all\.json: line \d+/);
		}
	}
	expect(refused).toBeGreaterThan(100);
});
