/** Keeps the number of entries small: nobody needs to know who wrote something long ago. */
import { compareStrings } from "../../kernel/order.ts";
import { type FieldSet, unionOf } from "./field-set.ts";
import { type Owner, type Owners, type Ownership, ownership, ownerText } from "./managed-fields.ts";

/** Entries of operation Update. */
const UPDATERS_MAX = 10;
const ANCIENT = "ancient-changes";

/** What becomes one entry. */
interface Bucket {
	readonly owner: Owner;
	time: string | undefined;
	readonly fields: FieldSet[];
}

/** With too many updaters, the oldest of one version become one; the first of a version only if it is not alone. */
export function withFewUpdaters(owners: Owners): Owners {
	if (owners.length <= UPDATERS_MAX) return owners;
	const updaters = owners.filter(({ operation }) => operation === "Update");
	updaters.sort((a, b) => compareStrings(a.time ?? "", b.time ?? "") || compareStrings(textOf(a), textOf(b)));
	const byOwner = new Map(owners.map((owner) => [ownerText(owner), owner]));
	const firsts = new Map<string, Ownership>();
	const buckets = new Map<string, Bucket>();
	const gone = new Set<Ownership>();
	let left = updaters.length;
	for (const updater of updaters) {
		if (left <= UPDATERS_MAX) break;
		const { apiVersion, time, fieldsV1 } = updater;
		const first = firsts.get(apiVersion);
		if (first === undefined) {
			firsts.set(apiVersion, updater);
			continue;
		}
		const bucket = buckets.get(apiVersion) ?? bucketOf(apiVersion, byOwner, first, gone);
		buckets.set(apiVersion, bucket);
		// The entry for what is ancient may be younger than what is added to it, if somebody made it so.
		if (gone.has(updater)) continue;
		gone.add(updater);
		bucket.fields.push(fieldsV1);
		bucket.time = time;
		left--;
	}
	if (gone.size === 0) return owners;
	const made = [...buckets.values()].map(({ owner, time, fields }) => ownership(owner, time, unionOf(fields)));
	return [...owners.filter((owner) => !gone.has(owner)), ...made];
}

/** Begins with the entry that is there for what is ancient, or else with the first one of the version. */
function bucketOf(
	apiVersion: string,
	byOwner: ReadonlyMap<string, Ownership>,
	first: Ownership,
	gone: Set<Ownership>,
): Bucket {
	const owner: Owner = { manager: ANCIENT, operation: "Update", apiVersion };
	const begun = byOwner.get(ownerText(owner)) ?? first;
	gone.add(begun);
	return { owner, time: begun.time, fields: [begun.fieldsV1] };
}

function textOf({ manager = "", apiVersion, subresource = "" }: Ownership): string {
	return `${manager}\n${apiVersion}\n${subresource}`;
}
