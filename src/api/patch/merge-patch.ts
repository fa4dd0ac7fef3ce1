/** JSON merge patch. @see RFC 7396 */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { DEPTH_MAX, isDeeperThan } from "../schema/depth.ts";
import { badPatch, type PatchResult } from "./patch-result.ts";

/** Null deletes, objects merge, everything else (lists too) replaces. */
export function applyMergePatch(target: Readonly<Record<string, unknown>>, patch: unknown): PatchResult {
	if (!isObject(patch)) return badPatch(400, "a merge patch must be a JSON object");
	if (isDeeperThan(patch, DEPTH_MAX)) return badPatch(400, "exceeded max depth");
	return { kind: "ok", value: merged(target, patch) };
}

function merged(target: unknown, patch: Record<string, unknown>): Record<string, unknown> {
	const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
	for (const key of Object.keys(patch)) {
		const value = patch[key];
		if (value === null || value === undefined) delete result[key];
		else setOwn(result, key, isObject(value) ? merged(ownValue(result, key), value) : value);
	}
	return result;
}
