/** Expectations of Endpoints objects in namespace demo. */
import type { EndpointSubset, Endpoints } from "../../api/types/core.ts";
import { deepEqual, ownValue } from "../../kernel/json.ts";
import type { EndpointsExpectation } from "../format/expectations.ts";
import type { ScenarioRun } from "../run.ts";
import { sameTexts } from "./matching.ts";
import { type Problem, problem, unless } from "./verdict.ts";

type List = "addresses" | "notReadyAddresses";

export function judgeEndpoints(
	run: ScenarioRun,
	expected: Readonly<Record<string, "absent" | EndpointsExpectation>>,
): readonly Problem[] {
	return Object.entries(expected).flatMap(([name, wanted]) => {
		const [found] = run.found({ kind: "Endpoints", name }) as readonly Endpoints[];
		const path = `endpoints.${name}`;
		if (wanted === "absent") return unless(found === undefined, path, "absent", found?.subsets ?? []);
		if (found === undefined) return [problem(path, wanted, "absent")];
		return [...judgeAddresses(wanted, found.subsets ?? [], path), ...judgeMetadata(wanted, found, path)];
	});
}

function judgeAddresses(
	wanted: EndpointsExpectation,
	subsets: readonly EndpointSubset[],
	path: string,
): readonly Problem[] {
	const set = (key: "ready" | "notReady" | "ready_addresses", found: readonly string[]): readonly Problem[] => {
		const want = wanted[key];
		return unless(want === undefined || sameTexts(want, found), `${path}.${key}`, want, found);
	};
	const count = (key: "ready_count" | "notReady_count", list: List): readonly Problem[] => {
		const found = subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0);
		return unless(wanted[key] === undefined || wanted[key] === found, `${path}.${key}`, wanted[key], found);
	};
	const hasPorts = subsets.some(({ ports = [] }) => ports.length > 0);
	return [
		...set("ready", targets(subsets, "addresses")),
		...set("notReady", targets(subsets, "notReadyAddresses")),
		...set("ready_addresses", addresses(subsets, "addresses")),
		...count("ready_count", "addresses"),
		...count("notReady_count", "notReadyAddresses"),
		...unless(wanted.ports_absent !== true || !hasPorts, `${path}.ports_absent`, "no ports", subsets),
		...unless(wanted.subsets_empty !== true || subsets.length === 0, `${path}.subsets_empty`, "no subsets", subsets),
	];
}

function judgeMetadata(wanted: EndpointsExpectation, { metadata }: Endpoints, path: string): readonly Problem[] {
	const { labels = {}, annotations = {} } = metadata;
	const has = Object.entries(wanted.annotations ?? {}).every(([key, value]) => ownValue(annotations, key) === value);
	const lacks = (map: object, keys: readonly string[] = []): boolean => keys.every((key) => !Object.hasOwn(map, key));
	return [
		...unless(wanted.labels === undefined || deepEqual(labels, wanted.labels), `${path}.labels`, wanted.labels, labels),
		...unless(lacks(labels, wanted.labels_absent), `${path}.labels_absent`, wanted.labels_absent, labels),
		...unless(has, `${path}.annotations`, wanted.annotations, annotations),
		...unless(
			lacks(annotations, wanted.annotations_absent),
			`${path}.annotations_absent`,
			wanted.annotations_absent,
			annotations,
		),
	];
}

function addresses(subsets: readonly EndpointSubset[], list: List): readonly string[] {
	return subsets.flatMap((subset) => (subset[list] ?? []).map(({ ip }) => ip));
}

/** ADDRESS:PORT for each address and port; an address without ports stands alone. */
function targets(subsets: readonly EndpointSubset[], list: List): readonly string[] {
	return subsets.flatMap((subset) =>
		(subset[list] ?? []).flatMap(({ ip }) => {
			const host = ip.includes(":") ? `[${ip}]` : ip;
			const { ports = [] } = subset;
			return ports.length === 0 ? [ip] : ports.map(({ port }) => `${host}:${port}`);
		}),
	);
}
