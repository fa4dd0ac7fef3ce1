/** Keeps the number of entries small: nobody needs to know who wrote something long ago. */
import { compareStrings } from "../../kernel/order.ts";
import { union } from "./field-set.ts";
import { isSameOwner, type Owner, type Owners, type Ownership, ownership, withOwner } from "./managed-fields.ts";

/** Entries of operation Update. */
const UPDATERS_MAX = 10;
const ANCIENT = "ancient-changes";

/** With too many updaters, the oldest of one version become one; the first of a version only if it is not alone. */
export function withFewUpdaters(owners: Owners): Owners {
	if (owners.length <= UPDATERS_MAX) return owners;
	const updaters = owners.filter(({ operation }) => operation === "Update");
	updaters.sort((a, b) => compareStrings(a.time ?? "", b.time ?? "") || compareStrings(textOf(a), textOf(b)));
	const firsts = new Map<string, Ownership>();
	let kept = owners;
	let left = updaters.length;
	for (const updater of updaters) {
		if (left <= UPDATERS_MAX) break;
		const { apiVersion, time, fieldsV1 } = updater;
		const first = firsts.get(apiVersion);
		if (first === undefined) {
			firsts.set(apiVersion, updater);
			continue;
		}
		const bucket: Owner = { manager: ANCIENT, operation: "Update", apiVersion };
		const before = kept.find((owner) => isSameOwner(owner, bucket)) ?? first;
		const others = kept.filter((owner) => owner !== first && owner !== updater);
		kept = withOwner(others, ownership(bucket, time, union(before.fieldsV1, fieldsV1)));
		left--;
	}
	return kept;
}

function textOf({ manager = "", apiVersion, subresource = "" }: Ownership): string {
	return `${manager}\n${apiVersion}\n${subresource}`;
}
