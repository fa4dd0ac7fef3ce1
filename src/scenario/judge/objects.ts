/** Expectations of any objects: by JSON Pointers into them. */
import { listIndex, pointerSteps } from "../../api/patch/json-pointer.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { deepEqual, isObject, ownValue } from "../../kernel/json.ts";
import type { Expectations, ObjectsExpectation } from "../format/expectations.ts";
import { DEFAULT_NAMESPACE } from "../objects/drafts.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import type { Saved, ScenarioRun } from "../run.ts";
import { countFits } from "./counts.ts";
import { matched, sameTexts } from "./matching.ts";
import { type Problem, problem, unless } from "./verdict.ts";

/** What the pointer points at; undefined when there is nothing. */
export function pointed(value: unknown, pointer: string): unknown {
	return (pointerSteps(pointer) ?? []).reduce<unknown>((around, step) => {
		if (Array.isArray(around)) {
			const index = listIndex(step, around.length);
			return index === undefined ? undefined : around[index];
		}
		return isObject(around) ? ownValue(around, step) : undefined;
	}, value);
}

export function judgeObjects(run: ScenarioRun, expected: readonly ObjectsExpectation[]): readonly Problem[] {
	return expected.flatMap((each, index) => {
		const found = run.found(each);
		const path = `objects[${index}]`;
		const names = found.map(({ metadata }) => metadata.name);
		if (each.exists === false) return unless(found.length === 0, `${path}.exists`, "no such object", names);
		const { count = { min: 1 } } = each;
		if (!countFits(count, found.length)) return [problem(`${path}.count`, count, names)];
		return found.flatMap((object) => judgeObject(each, object, `${path} ${object.metadata.name}`));
	});
}

function judgeObject(
	{ fields = {}, present = [], keys = {}, lists = {}, matches = {} }: ObjectsExpectation,
	object: KubeObject,
	path: string,
): readonly Problem[] {
	const at = (pointer: string): unknown => pointed(object, pointer);
	return [
		...Object.entries(fields).flatMap(([pointer, wanted]) =>
			unless(
				wanted === null ? at(pointer) === undefined : deepEqual(at(pointer), wanted),
				`${path} ${pointer}`,
				wanted,
				at(pointer),
			),
		),
		...present.flatMap((pointer) => unless(at(pointer) !== undefined, `${path} ${pointer}`, "something", undefined)),
		...Object.entries(keys).flatMap(([pointer, wanted]) => {
			const found = at(pointer);
			const has = isObject(found) ? Object.keys(found) : [];
			return unless(sameTexts(wanted, has), `${path} ${pointer}`, wanted, has);
		}),
		...Object.entries(lists).flatMap(([pointer, wanted]) => judgeList(wanted, at(pointer), `${path} ${pointer}`)),
		...Object.entries(matches).flatMap(([pointer, pattern]) => {
			const found = at(pointer);
			return unless(
				typeof found === "string" && new RegExp(pattern).test(found),
				`${path} ${pointer}`,
				`/${pattern}/`,
				found,
			);
		}),
	];
}

function judgeList(wanted: readonly unknown[], found: unknown, path: string): readonly Problem[] {
	const items = Array.isArray(found) ? found : [];
	const { missing, surplus } = matched(wanted, items, hasAll);
	return unless(missing.length === 0 && surplus.length === 0, path, wanted, found);
}

/** Whether `found` has at least the fields of `wanted`, all the way down. */
export function hasAll(wanted: unknown, found: unknown): boolean {
	if (!isObject(wanted) || !isObject(found)) return deepEqual(wanted, found);
	return Object.entries(wanted).every(([key, value]) => hasAll(value, ownValue(found, key)));
}

export function judgeSaved(run: ScenarioRun, name: string, wanted: "unchanged" | "same" | "gone"): readonly Problem[] {
	const path = `saved.${name}`;
	const saved = run.saved.get(name);
	if (saved === undefined) return [problem(path, wanted, "nothing was saved under that name")];
	return saved.flatMap((each) => {
		const state = stateOf(run, each);
		const holds = wanted === "gone" ? state === "gone" : state === "unchanged" || state === wanted;
		return unless(holds, `${path} ${each.name}`, wanted, state);
	});
}

/** `same` is the object with changes; `gone` has no uid of it, whatever has its name now. */
function stateOf(
	run: ScenarioRun,
	{ type, namespace, name, uid, resourceVersion }: Saved,
): "unchanged" | "same" | "gone" {
	const found = run.plane.stored(type, namespace).find(({ metadata }) => metadata.name === name);
	if (found?.metadata.uid !== uid) return "gone";
	return found.metadata.resourceVersion === resourceVersion ? "unchanged" : "same";
}

export function judgeUnique(run: ScenarioRun, expected: NonNullable<Expectations["unique"]>): readonly Problem[] {
	return expected.flatMap(({ kind, fields }, index) => {
		const all = run.plane.stored(typeOfKind(kind), DEFAULT_NAMESPACE);
		const values = all.flatMap((object) => fields.map((pointer) => pointed(object, pointer)));
		const texts = values.filter((value) => value !== undefined).map((value) => JSON.stringify(value));
		return unless(new Set(texts).size === texts.length, `unique[${index}]`, "values that differ", texts);
	});
}
