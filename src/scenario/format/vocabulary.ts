/** Words that all parts of a scenario file share, and how their values are read. */
import * as v from "valibot";
import { setOwn } from "../../kernel/json.ts";

export type Kind = "Service" | "Pod" | "Node" | "EndpointSlice" | "Endpoints" | "ConfigMap";

/** A raw object, as in the API. */
export type Raw = Readonly<Record<string, unknown>>;

export type Texts = Readonly<Record<string, string>>;

/** A number, or bounds of which either may be left out. */
export type Count = number | { readonly min?: number; readonly max?: number };

/** Names an object; or, for slices, some by their labels. */
export interface ObjectSelector {
	readonly kind: Kind;
	readonly ns?: string;
	readonly name?: string;
	/** Label kubernetes.io/service-name. */
	readonly service?: string;
	/** Label endpointslice.kubernetes.io/managed-by. */
	readonly managedBy?: string;
	readonly addressType?: "IPv4" | "IPv6" | "FQDN";
	/** In name order, from 0. */
	readonly index?: number;
}

type Shape<T> = v.GenericSchema<unknown, T>;
/** Also fit for the keys of maps. */
type Words<T extends string = string> = v.GenericSchema<string, T>;
type Entries = v.ObjectEntries;

/** An object of these keys and no other; says which keys there are when one is not among them. */
export function keys<const E extends Entries>(
	entries: E,
): v.StrictObjectSchema<E, (issue: v.StrictObjectIssue) => string> {
	const known = Object.keys(entries);
	const shape = v.strictObject(entries, (issue) => {
		if (issue.expected === "never") return `unknown key ${issue.received}; known here: ${known.join(", ")}`;
		if (issue.received === "undefined") return `key ${issue.expected} is missing`;
		return `want a map, found ${issue.received}`;
	});
	// To valibot a list is an object, too.
	return { ...shape, "~run": v.pipe(noList, shape)["~run"] as (typeof shape)["~run"] };
}

const noList = v.custom<unknown>((input) => !Array.isArray(input), "want a map, found a list");

/** A map whose keys are names. Every key is data, also `__proto__` and `constructor`, which valibot's record leaves out. */
export function mapOf<K extends string, T>(key: Words<K>, value: Shape<T>): Shape<Readonly<Record<K, T>>> {
	const shape = v.pipe(
		v.custom<Record<string, unknown>>(
			(input) => typeof input === "object" && input !== null && !Array.isArray(input),
			wantMap,
		),
		v.rawTransform(({ dataset, addIssue }) => {
			const read = {};
			for (const [name, item] of Object.entries(dataset.value)) {
				const place = { type: "object", origin: "value", input: dataset.value, key: name, value: item } as const;
				const named = v.safeParse(key, name);
				const valued = v.safeParse(value, item);
				for (const { message, expected } of named.issues ?? []) {
					addIssue({ message, expected: expected ?? "", path: [{ ...place, origin: "key" }] });
				}
				for (const { message, expected, path = [] } of valued.issues ?? []) {
					addIssue({ message, expected: expected ?? "", path: [place, ...path] });
				}
				setOwn(read, name, valued.output);
			}
			return read as Readonly<Record<K, T>>;
		}),
	);
	return Object.assign(shape, { value });
}

function wantMap({ received }: { readonly received: string }): string {
	return `want a map, found ${received === "Array" ? "a list" : received}`;
}

export const text: Words = v.string((issue) => `want a text, found ${issue.received}`);
export const flag: Shape<boolean> = v.boolean((issue) => `want true or false, found ${issue.received}`);
export const whole: Shape<number> = v.pipe(
	v.number((issue) => `want a number, found ${issue.received}`),
	v.integer("want a whole number"),
	v.minValue(0, "want 0 or more"),
);
export const positive: Shape<number> = v.pipe(
	v.number((issue) => `want a number, found ${issue.received}`),
	v.integer("want a whole number"),
	v.minValue(1, "want 1 or more"),
);
/** So many objects or parts of one: more than any cluster has would only use up the machine. */
export const many: Shape<number> = v.pipe(positive, v.maxValue(100_000, "want 100000 or less"));
/** A regular expression. */
export const pattern: Words = v.pipe(
	v.string("want a regular expression"),
	v.check((written) => {
		try {
			return new RegExp(written) instanceof RegExp;
		} catch {
			return false;
		}
	}, "want a regular expression"),
);
/** A key that only says yes. */
export const yes: Shape<true> = v.literal(true, (issue) => `want true, found ${issue.received}`);
export const pointer: Words = v.pipe(text, v.startsWith("/", "want a JSON Pointer, such as /spec/type"));
export const texts: Shape<Texts> = mapOf(text, text);
export const raw: Shape<Raw> = mapOf(text, v.unknown());
export const name: Words = v.pipe(text, v.minLength(1, "want a name"));
export const intText: Shape<number | string> = v.union([v.number(), v.string()], "want a number or a text");
export const kind: Words<Kind> = oneOf("Service", "Pod", "Node", "EndpointSlice", "Endpoints", "ConfigMap");
export const count: Shape<Count> = v.union(
	[
		whole,
		v.pipe(
			keys({ min: v.exactOptional(whole), max: v.exactOptional(whole) }),
			v.check((bounds) => Object.keys(bounds).length > 0, "want min, max or both"),
		),
	],
	"want a number, or {min, max}",
);

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** `500ms`, `3s`, `2m`; read as milliseconds. */
export const duration: Shape<number> = v.pipe(
	v.string("want a duration, such as 500ms, 3s or 2m"),
	v.regex(/^[0-9]+(ms|s|m)$/, "want a duration, such as 500ms, 3s or 2m"),
	v.transform((written) => {
		const [, digits = "", unit = ""] = /^([0-9]+)(ms|s|m)$/.exec(written) ?? [];
		return Number(digits) * (UNIT_MS[unit] ?? 0);
	}),
	// Even a component that tries again every second comes to the end of it.
	v.maxValue(604_800_000, "want a week or less, 10080m"),
);

export function oneOf<const W extends string>(...words: readonly W[]): Words<W> {
	return v.picklist(words, (issue) => `want one of ${words.join(", ")}; found ${issue.received}`);
}

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
	return v.array(item, (issue) => `want a list, found ${issue.received}`);
}

/** What names an object in steps and in `objects`, to be spread into an object of more keys. */
export const selectorEntries: {
	readonly kind: Shape<Kind>;
	readonly ns: v.ExactOptionalSchema<Shape<string>, undefined>;
	readonly name: v.ExactOptionalSchema<Shape<string>, undefined>;
	readonly service: v.ExactOptionalSchema<Shape<string>, undefined>;
	readonly managedBy: v.ExactOptionalSchema<Shape<string>, undefined>;
	readonly addressType: v.ExactOptionalSchema<Shape<"IPv4" | "IPv6" | "FQDN">, undefined>;
	readonly index: v.ExactOptionalSchema<Shape<number>, undefined>;
} = {
	kind,
	ns: v.exactOptional(text),
	name: v.exactOptional(name),
	service: v.exactOptional(name),
	managedBy: v.exactOptional(text),
	addressType: v.exactOptional(oneOf("IPv4", "IPv6", "FQDN")),
	index: v.exactOptional(whole),
};

/** @returns Whether an object, or slices, are named at all. */
export function namesObject(selector: { readonly name?: string; readonly service?: string }): boolean {
	return selector.name !== undefined || selector.service !== undefined;
}

export const NAMES_NOTHING = "want a name, or service for slices";
