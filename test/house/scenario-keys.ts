/** The keys of scenario files: as their reader knows them, and as the tables of the documents name them. */
import { endpoints, node, pod, service, slice } from "../../src/scenario/format/objects.ts";
import { scenario } from "../../src/scenario/format/scenario-file.ts";

/** Any part of a schema. */
type Shape = Readonly<Record<string, unknown>>;

/** Inputs of which each shape that depends on its input chooses another one. */
const INPUTS = [true, "absent", {}, { ruleset: 1 }, { create: 1 }, { remove: 1 }];

/** `a.b.c` for every key, however deep; items of lists and values of maps are parts of what has them. */
function keysOf(shape: unknown, under = ""): readonly string[] {
	if (!isShape(shape)) return [];
	if (isShape(shape["entries"])) {
		// Bounds of a count are described once.
		if (Object.keys(shape["entries"]).join() === "min,max") return [];
		return Object.entries(shape["entries"]).flatMap(([key, inner]) => {
			const path = under === "" ? key : `${under}.${key}`;
			return [path, ...keysOf(inner, path)];
		});
	}
	const { getter, options, wrapped, item, value } = shape;
	if (typeof getter === "function") return INPUTS.flatMap((input) => keysOf(getter(input), under));
	if (Array.isArray(options)) return options.flatMap((option) => keysOf(option, under));
	return [wrapped, item, value].flatMap((inner) => keysOf(inner, under));
}

function isShape(value: unknown): value is Shape {
	return (typeof value === "object" || typeof value === "function") && value !== null;
}

function partOf(shape: Shape, key: string): unknown {
	const entries = shape["entries"] as Shape;
	const part = entries[key] as Shape;
	return part["wrapped"] ?? part;
}

/** Naming an object, and writing one in shorthand, is described once for all steps. */
const NAMING = ["kind", "ns", "name", "service", "managedBy", "addressType", "index"];
const SHORTHAND = [service, pod, slice, endpoints, node].flatMap((shape) => keysOf(shape));
const WRITTEN = ["create", "put", "ssa", "pod", "pod.create", "pods_repeat", "services_repeat", "store_raw"];
const NAMED = ["save", "patch", "delete", "hold_reply", "store_raw", "client_informer", "client_list", "watch_client"];

/** By the heading of their table. */
export function formatKeys(): Readonly<Record<string, readonly string[]>> {
	const root: Shape = { ...scenario };
	const given = keysOf(partOf(root, "given")).filter(
		(key) => /^(conntrack|controller)\b/.test(key) || !key.includes("."),
	);
	const steps = keysOf(partOf(root, "steps")).filter((key) => !isShared(key) && !/^check\./.test(key));
	const expected = keysOf(partOf(root, "expect")).filter(
		(key) => !/^slices\.none_with\./.test(key) && !NAMING.some((name) => key === `objects.${name}`),
	);
	return {
		"The file": keysOf({ entries: Object.fromEntries(Object.keys(root["entries"] as Shape).map((key) => [key, {}])) }),
		given,
		Nodes: keysOf(node),
		Services: keysOf(service),
		Pods: keysOf(pod),
		"Endpoints and slices": unique([...keysOf(endpoints), ...keysOf(slice)]),
		Steps: unique(steps),
		Expectations: unique(expected),
	};
}

function isShared(key: string): boolean {
	const within = (steps: readonly string[], keys: readonly string[]): boolean =>
		steps.some((step) => keys.some((each) => key === `${step}.${each}`));
	return (
		within(NAMED, NAMING) ||
		within(
			WRITTEN,
			[...SHORTHAND, ...NAMING, "count"].filter((each) => each !== "subsets" || !key.startsWith("store_raw")),
		)
	);
}

function unique(keys: readonly string[]): readonly string[] {
	return [...new Set(keys)];
}

/** The keys in first cells, sorted, under the nearest heading that has tables in {@link formatKeys}. */
export function documentedKeys(text: string): Readonly<Record<string, readonly string[]>> {
	const headings = Object.keys(formatKeys());
	const found: Record<string, string[]> = {};
	let part = "";
	for (const line of text.split("\n")) {
		const heading = /^#+ (.*)/.exec(line)?.[1];
		if (heading !== undefined && headings.includes(heading)) part = heading;
		if (part === "" || !line.startsWith("| `")) continue;
		const cell = line.slice(1, line.indexOf("|", 1));
		found[part] = [...(found[part] ?? []), ...[...cell.matchAll(/`([^`]+)`/g)].map(([, key = ""]) => key)];
	}
	return Object.fromEntries(Object.entries(found).map(([heading, keys]) => [heading, keys.sort()]));
}
