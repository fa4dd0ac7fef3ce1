/** Reads the body of a request for a custom resource: its metadata is checked, what its schema does not name goes. */
import { isObject } from "../../kernel/json.ts";
import { type Decoded, decodePart, headOf, type TypeMeta, wrong } from "../schema/decode.ts";
import { DEPTH_MAX, isDeeperThan } from "../schema/depth.ts";
import { pruned } from "./prune.ts";
import type { SchemaProps } from "./schema-props.ts";

export function decodeCustom(body: unknown, schema: SchemaProps, expected: TypeMeta): Decoded {
	const head = headOf(body, expected);
	if (head.kind === "wrong") return head;
	const value = isObject(body) ? body : {};
	if (isDeeperThan(value, DEPTH_MAX)) return wrong(expected, expected, "exceeded max depth");
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
