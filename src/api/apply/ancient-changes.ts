/** Keeps the number of entries small: nobody needs to know who wrote something long ago. */
import { compareStrings } from "../../kernel/order.ts";
import { union } from "./field-set.ts";
import { type Owners, type Ownership, ownerKey } from "./managed-fields.ts";

/** Entries of operation Update. */
const UPDATERS_MAX = 10;
const ANCIENT = "ancient-changes";

/** With too many updaters, the oldest of one version become one; the first of a version only if it is not alone. */
export function withFewUpdaters(owners: Owners): Owners {
	const updaters = [...owners.values()].filter(({ operation }) => operation === "Update");
	if (updaters.length <= UPDATERS_MAX) return owners;
	updaters.sort((a, b) => compareStrings(a.time ?? "", b.time ?? "") || compareStrings(ownerKey(a), ownerKey(b)));
	const kept = new Map(owners);
	const firsts = new Map<string, Ownership>();
	let left = updaters.length;
	for (const updater of updaters) {
		if (left <= UPDATERS_MAX) break;
		const first = firsts.get(updater.apiVersion);
		if (first === undefined) {
			firsts.set(updater.apiVersion, updater);
			continue;
		}
		const bucket = { ...updater, manager: ANCIENT, subresource: "" };
		const before = kept.get(ownerKey(bucket)) ?? first;
		kept.delete(ownerKey(first));
		kept.delete(ownerKey(updater));
		kept.set(ownerKey(bucket), { ...bucket, fields: union(updater.fields, before.fields) });
		left--;
	}
	return kept;
}
