/** Reads the body of a request for a custom resource: its metadata is checked, what its schema does not name goes. */
import { isObject } from "../../kernel/json.ts";
import { invalid } from "../field-error.ts";
import {
	type Decoded,
	decodePart,
	headOf,
	type TypeMeta,
	type WrongBody,
	wrong,
	wrongVersion,
} from "../schema/decode.ts";
import { DEPTH_MAX, isDeeperThan } from "../schema/depth.ts";
import { pruned } from "./prune.ts";
import type { SchemaProps } from "./schema-props.ts";

export function decodeCustom(body: unknown, schema: SchemaProps, expected: TypeMeta): Decoded {
	const head = customHead(body, expected);
	if (head !== undefined) return head;
	const value = isObject(body) ? body : {};
	if (isDeeperThan(value, DEPTH_MAX)) return wrong(expected, expected, "exceeded max depth");
	if (hasInfinity(value)) {
		return wrong(expected, expected, "json: cannot unmarshal a number beyond 1.8e308 into Go value of type float64");
	}
	const { metadata = {} } = value;
	if (metadata !== null && !isObject(metadata)) {
		const found = Array.isArray(metadata) ? "array" : typeof metadata;
		const why = `json: cannot unmarshal ${found} into Go struct field .metadata of type v1.ObjectMeta`;
		return wrong(expected, expected, why);
	}
	const read = decodePart("meta.ObjectMeta", metadata ?? {}, "metadata");
	let fault = read.wrong;
	const unknown = [...read.unknown];
	const object = { ...value, ...expected, metadata: read.value };
	const report = {
		dropped: (path: string): void => {
			unknown.push(`unknown field "${path}"`);
		},
		wrong: (why: string): void => {
			fault ??= why;
		},
	};
	const kept = pruned(object, schema, report) as typeof object;
	return fault === undefined ? { kind: "ok", object: kept, unknown } : wrong(expected, expected, fault);
}

/** Unlike those of built-in kinds, nothing fills in the kind and the version of a custom object. */
function customHead(body: unknown, expected: TypeMeta): WrongBody | undefined {
	if (!isObject(body)) return unreadableHead(body, expected);
	const { kind = "", apiVersion = "" } = body;
	if (kind === "" || kind === null) {
		return { kind: "wrong", message: `Object 'Kind' is missing in '${JSON.stringify(body)}'` };
	}
	if (apiVersion === "" || apiVersion === null) return wrongVersion("", expected);
	if (typeof kind !== "string" || kind === expected.kind) return unreadableHead(body, expected);
	const head = unreadableHead({ ...body, kind: expected.kind }, expected);
	if (head !== undefined) return head;
	const message = `must be ${expected.kind}`;
	return { kind: "wrong", message, invalid: { kind, error: invalid("kind", kind, message) } };
}

function unreadableHead(body: unknown, expected: TypeMeta): WrongBody | undefined {
	const head = headOf(body, expected);
	return head.kind === "wrong" ? head : undefined;
}

/** What a number becomes that is too large for a float: JSON could not say it again. */
function hasInfinity(value: unknown): boolean {
	if (typeof value === "number") return !Number.isFinite(value);
	return typeof value === "object" && value !== null && Object.values(value).some(hasInfinity);
}
