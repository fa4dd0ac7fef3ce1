/** Random sequences of applies and updates by three managers, and what must hold after each step. */
import * as fc from "fast-check";
import { type Applied, applyConfig } from "../api/apply/apply-config.ts";
import { compare } from "../api/apply/compare.ts";
import { difference, EMPTY_SET, type FieldSet, pathsOf, readFieldSet, union } from "../api/apply/field-set.ts";
import { checkedFields, givenFields } from "../api/apply/given-fields.ts";
import { entriesOf, NO_OWNERS, type Owners } from "../api/apply/managed-fields.ts";
import { presentFields } from "../api/apply/present-fields.ts";
import { type ApplyShape, ATOM } from "../api/apply/shape.ts";
import { trackUpdate, type Writer } from "../api/apply/track-update.ts";
import { deepEqual } from "../kernel/json.ts";

type Value = Readonly<Record<string, unknown>>;

export interface ApplyStep {
	readonly kind: "apply" | "update";
	readonly manager: "m1" | "m2" | "m3";
	readonly value: Value;
	readonly isForced: boolean;
}

const PORT: Readonly<Record<string, ApplyShape>> = { port: ATOM, protocol: ATOM, name: ATOM };
const PORTS: ApplyShape = {
	kind: "keyed-list",
	keys: [{ name: "port" }, { name: "protocol", default: "TCP" }],
	of: { kind: "struct", fieldOf: (name) => PORT[name] },
};
const DEEP: Readonly<Record<string, ApplyShape>> = { x: ATOM, y: ATOM, map: { kind: "map", of: ATOM } };
const FIELDS: Readonly<Record<string, ApplyShape>> = {
	a: ATOM,
	b: { kind: "atom", of: "list" },
	labels: { kind: "map", of: ATOM },
	tags: { kind: "set" },
	ports: PORTS,
	deep: { kind: "struct", fieldOf: (name) => DEEP[name] },
	free: { kind: "untyped" },
};
const SHAPE: ApplyShape = { kind: "struct", fieldOf: (name) => FIELDS[name] };

const scalar = fc.integer({ min: 1, max: 2 });
const some = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
const map = fc.dictionary(fc.constantFrom("p", "q", "__proto__"), scalar, { minKeys: 1, noNullPrototype: true });
const port = fc.record(
	{ port: fc.constantFrom(80, 443), protocol: fc.constantFrom("TCP", "UDP"), name: fc.constantFrom("n", "o") },
	{ requiredKeys: ["port"] },
);
const value: fc.Arbitrary<Value> = fc.record({
	a: some(scalar),
	b: some(fc.array(scalar, { minLength: 1, maxLength: 2 })),
	labels: some(map),
	tags: some(fc.uniqueArray(fc.constantFrom("s", "t", "u"), { minLength: 1 })),
	ports: some(
		fc.uniqueArray(port, { minLength: 1, maxLength: 3, selector: (each) => `${each.port}${each.protocol ?? "TCP"}` }),
	),
	deep: some(fc.record({ x: some(scalar), y: some(scalar), map: some(map) })),
	free: some(fc.record({ f: scalar, g: fc.record({ h: scalar }) }, { requiredKeys: ["f"] })),
});

export const applySteps: fc.Arbitrary<readonly ApplyStep[]> = fc.array(
	fc.record({
		kind: fc.constantFrom("apply", "apply", "update"),
		manager: fc.constantFrom("m1", "m2", "m3"),
		value: value.map(stripped),
		isForced: fc.boolean(),
	}),
	{ minLength: 1, maxLength: 8 },
);

/** Without fields that are undefined, and what is empty for that. */
function stripped(given: Value): Value {
	return JSON.parse(JSON.stringify(given, (_, each: unknown) => (isEmptyObject(each) ? undefined : each)) ?? "{}");
}

function isEmptyObject(each: unknown): boolean {
	if (typeof each !== "object" || each === null || Array.isArray(each)) return false;
	return Object.values(each).every((member) => member === undefined);
}

function writer(manager: string): Writer {
	return {
		shape: SHAPE,
		apiVersion: "v1",
		manager,
		subresource: "",
		ignored: EMPTY_SET,
		now: () => "2026-01-01T00:00:00Z",
	};
}

interface State {
	readonly object: unknown;
	readonly owners: Owners;
}

/** @throws {Error} That says which promise the sequence broke. */
export function checkSequence(steps: readonly ApplyStep[]): void {
	let state: State = { object: {}, owners: NO_OWNERS };
	for (const step of steps) {
		const next = step.kind === "update" ? updated(state, step) : applied(state, step);
		checkOwners(next);
		state = next;
	}
}

function updated({ object, owners }: State, { manager, value: next }: ApplyStep): State {
	return { object: next, owners: trackUpdate(owners, object, next, writer(manager)) };
}

function apply({ object, owners }: State, { manager, value, isForced }: ApplyStep, force = isForced): Applied {
	const checked = checkedFields(SHAPE, value);
	if (checked.kind === "wrong") throw new Error(`broken: the configuration fits: ${checked.message}`);
	return applyConfig(owners, object, { value, fields: checked.fields }, writer(manager), force);
}

function applied(state: State, step: ApplyStep): State {
	const result = apply(state, step);
	if (result.kind === "conflicts") {
		must(!step.isForced, "a forced apply has no conflicts");
		for (const { fields } of result.conflicts) must(fields !== EMPTY_SET, "a conflict names fields");
		return state;
	}
	const next: State = { object: result.object ?? state.object, owners: result.owners };
	const given = givenFields(SHAPE, step.value);
	must(
		deepEqual(fieldsOf(next.owners, step.manager, "Apply"), given),
		"the applier owns what it gave, and nothing else",
	);
	const kept = apply(next, { ...step, isForced: false });
	must(kept.kind === "applied" && kept.object === undefined, "the same again changes nothing");
	must(kept.kind === "applied" && deepEqual(kept.owners, next.owners), "the same again changes no owner");
	checkGivenUp(state, step, next, given);
	checkOthers(state, step, next);
	return next;
}

/** What only this applier owned, and does not give any more, is gone. */
function checkGivenUp(before: State, step: ApplyStep, after: State, given: FieldSet): void {
	const others = before.owners
		.filter(({ manager, operation }) => manager !== step.manager || operation !== "Apply")
		.reduce((set, { fieldsV1 }) => union(set, fieldsV1), EMPTY_SET);
	const dropped = difference(difference(fieldsOf(before.owners, step.manager, "Apply"), given), others);
	const there = presentFields(SHAPE, after.object);
	for (const path of pathsOf(dropped)) {
		const isInner = pathsOf(there).some((each) => each.length > path.length && path.every((at, i) => each[i] === at));
		must(isInner || !hasPath(there, path), `${path.join(" ")} was given up and is gone`);
	}
}

/** Without force nobody loses a field that is still there as it was. */
function checkOthers(before: State, step: ApplyStep, after: State): void {
	const { written, removed } = compare(SHAPE, before.object, after.object);
	const changed = union(written, removed);
	for (const { manager, operation, fieldsV1 } of before.owners) {
		if (manager === step.manager && operation === "Apply") continue;
		const lost = difference(fieldsV1, fieldsOf(after.owners, manager ?? "", operation));
		must(difference(lost, changed) === EMPTY_SET, `${manager} loses only what has changed`);
		if (!step.isForced) must(difference(lost, removed) === EMPTY_SET, `${manager} keeps what it had`);
	}
}

function checkOwners({ object, owners }: State): void {
	const all = owners.reduce((set, { fieldsV1 }) => union(set, fieldsV1), EMPTY_SET);
	for (const path of pathsOf(givenFields(SHAPE, object))) must(hasPath(all, path), `${path.join(" ")} has an owner`);
	for (const { fieldsV1 } of entriesOf(owners) ?? []) {
		must(deepEqual(readFieldSet(JSON.parse(JSON.stringify(fieldsV1))), fieldsV1), "entries read back as they were");
	}
}

/** Two configurations that do not disagree give the same whichever comes first. */
export function checkOrder(first: ApplyStep, second: ApplyStep): void {
	const run = (...steps: readonly ApplyStep[]): State | undefined => {
		let state: State = { object: {}, owners: NO_OWNERS };
		for (const step of steps) {
			const result = apply(state, step, false);
			if (result.kind !== "applied") return undefined;
			state = { object: result.object ?? state.object, owners: result.owners };
		}
		return state;
	};
	const [one, other] = [run(first, second), run(second, first)];
	must((one === undefined) === (other === undefined), "a conflict is one in either order");
	if (one === undefined || other === undefined || first.manager === second.manager) return;
	must(compare(SHAPE, one.object, other.object).written === EMPTY_SET, "either order gives the same object");
	for (const { manager, operation, fieldsV1 } of one.owners) {
		must(deepEqual(fieldsOf(other.owners, manager ?? "", operation), fieldsV1), "either order gives the same owners");
	}
}

function fieldsOf(owners: Owners, manager: string, operation: string): FieldSet {
	return owners.find((each) => each.manager === manager && each.operation === operation)?.fieldsV1 ?? EMPTY_SET;
}

function hasPath(set: FieldSet, path: readonly string[]): boolean {
	return pathsOf(set).some((each) => each.length === path.length && path.every((at, index) => each[index] === at));
}

function must(holds: boolean, promise: string): asserts holds {
	if (!holds) throw new Error(`broken: ${promise}`);
}
