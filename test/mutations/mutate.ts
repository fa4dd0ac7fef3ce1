/** Random changes of valid objects: what people and programs get wrong, and what attackers send. */
import type { Random } from "../../src/kernel/random.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A place in an object: keys and indexes from its root. */
type Path = readonly (string | number)[];

const JUNK: readonly Json[] = [
	null,
	true,
	0,
	-1,
	1.5,
	65_536,
	2 ** 31,
	1e300,
	"",
	" ",
	"x".repeat(300),
	"Ünïcode 🙂\u0000",
	"../../etc/passwd",
	"1e3",
	"-5",
	"10.96.0.1",
	"300.1.1.1",
	"::ffff:1.2.3.4",
	"2026-01-01T00:00:00Z",
	"not-a-time",
	"None",
	[],
	[null],
	[[]],
	["a", "a"],
	{},
	{ constructor: { prototype: "x" } },
	JSON.parse('{"__proto__": {"polluted": true}}'),
	nested(200),
];

function nested(depth: number): Json {
	return depth === 0 ? "deep" : { a: nested(depth - 1) };
}

export function pick<T>(random: Random, items: readonly T[]): T {
	const item = items[Math.floor(random.next() * items.length)];
	if (item === undefined) throw new Error("nothing to pick from");
	return item;
}

/** The value with one to three random changes. */
export function mutated(value: Json, random: Random): Json {
	const times = 1 + Math.floor(random.next() * 3);
	let changed = value;
	for (let i = 0; i < times; i++) changed = mutatedOnce(changed, random);
	return changed;
}

function mutatedOnce(value: Json, random: Random): Json {
	const paths = pathsOf(value);
	const path = pick(random, paths);
	switch (Math.floor(random.next() * 5)) {
		case 0:
			return replaced(value, path, undefined);
		case 1:
			return replaced(value, path, valueAt(value, pick(random, paths)));
		case 2:
			return replaced(value, [...path, pick(random, ["extra", "constructor", "name", "0"])], pick(random, JUNK));
		default:
			return replaced(value, path, pick(random, JUNK));
	}
}

function pathsOf(value: Json, path: Path = []): readonly Path[] {
	if (typeof value !== "object" || value === null || path.length > 12) return [path];
	const below = Object.entries(value).flatMap(([key, child]) =>
		pathsOf(child, [...path, Array.isArray(value) ? Number(key) : key]),
	);
	return [path, ...below];
}

function valueAt(value: Json, path: Path): Json {
	return path.reduce<Json>(
		(at, key) => (typeof at === "object" && at !== null ? ((at as Record<string, Json>)[key] ?? null) : null),
		value,
	);
}

/** `undefined` takes the place out; places that cannot be are left alone. */
function replaced(value: Json, [key, ...rest]: Path, put: Json | undefined): Json {
	if (key === undefined) return put ?? null;
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) {
		const list: Json[] = [...(value as readonly Json[])];
		if (rest.length === 0 && put === undefined) list.splice(Number(key), 1);
		else if (Number.isInteger(Number(key))) list[Number(key)] = replaced(list[Number(key)] ?? null, rest, put);
		return list;
	}
	const entries = Object.entries(value).filter(([name]) => name !== key);
	if (rest.length === 0 && put === undefined) return Object.fromEntries(entries);
	const child = (value as Record<string, Json>)[key] ?? null;
	return Object.fromEntries([...entries, [String(key), replaced(child, rest, put)]]);
}
