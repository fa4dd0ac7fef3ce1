/** Lists: selectors, pages over one snapshot, and the meanings of resourceVersion (api-protocol, "Reading"). */

import type { FieldError } from "../../api/field-error.ts";
import { forbidden as forbiddenField, notSupported } from "../../api/field-error.ts";
import { type ApiError, badRequest, expiredList, invalidObject } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Revision } from "../../store/entry.ts";
import { continueToken, parseContinueToken } from "../continue-token.ts";
import type { RequestContext, ServerPorts, Target } from "../ports.ts";
import { requireRevision } from "../required-revision.ts";
import { type Selection, selectionOf } from "../selection.ts";

export interface ListQuery {
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
	readonly resourceVersion?: string;
	readonly resourceVersionMatch?: string;
	/** 0 or absent: everything in one answer. */
	readonly limit?: number;
	readonly continueToken?: string;
	readonly sendInitialEvents?: boolean;
}

export interface ListAnswer {
	readonly items: readonly KubeObject[];
	readonly revision: Revision;
	readonly continueToken?: string;
	/** Only where no selector makes the number unknown. */
	readonly remainingItemCount?: number;
}

export async function listObjects(
	ports: ServerPorts,
	target: Target,
	query: ListQuery,
	context: RequestContext,
): Promise<ListAnswer> {
	const problems = listQueryProblems(query);
	if (problems.length > 0) throw invalidObject({ group: "meta.k8s.io", kind: "ListOptions" }, "", problems);
	const selection = selectionOf(target.type, { namespace: target.namespace, ...query });
	const asked = parseResourceVersion(query.resourceVersion);
	if (query.continueToken !== undefined) return nextPage(ports, target, query, selection);
	await requireRevision(ports, asked, context.signal);
	const limit = limitOf(query);
	const isExact =
		query.resourceVersionMatch === "Exact" || (limit !== undefined && asked > 0 && !query.resourceVersionMatch);
	const revision = isExact ? asked : ports.store.revision;
	// A page cut from "any" state could not be continued by every server, so the real one ignores the limit too.
	const isWhole = limit === undefined || query.resourceVersion === "0";
	return page(ports, target, selection, isWhole ? { revision } : { revision, limit });
}

function limitOf({ limit = 0 }: ListQuery): number | undefined {
	return limit > 0 ? limit : undefined;
}

function nextPage(ports: ServerPorts, target: Target, query: ListQuery, selection: Selection): ListAnswer {
	if (query.resourceVersion !== undefined && query.resourceVersion !== "" && query.resourceVersion !== "0") {
		throw badRequest("specifying resource version is not allowed when using continue");
	}
	const token = parseContinueToken(query.continueToken ?? "", ports.store.revision);
	const limit = limitOf(query);
	// A token of revision 0 or below goes on with the newest state: it was given out with a 410.
	const revision = token.revision <= 0 ? ports.store.revision : token.revision;
	return page(ports, target, selection, {
		revision,
		start: token.start,
		...(limit === undefined ? {} : { limit }),
	});
}

interface PageOptions {
	readonly revision: Revision;
	readonly start?: string;
	readonly limit?: number;
}

function page(ports: ServerPorts, target: Target, selection: Selection, options: PageOptions): ListAnswer {
	const prefix = target.namespace === "" ? "" : `${target.namespace}/`;
	const isNow = options.revision >= ports.store.revision;
	if (!isNow && options.revision < ports.store.view.compacted) throw forgotten(options);
	const range = ports.store.space(target.type.storagePrefix).range({
		prefix,
		filter: (entry) => selection.matches(entry.object),
		...(options.start === undefined ? {} : { start: options.start }),
		...(options.limit === undefined ? {} : { limit: options.limit }),
		...(isNow ? {} : { revision: options.revision }),
	});
	if (range.kind === "compacted") throw forgotten(options);
	const items = range.entries.map((entry) => selection.shown(entry.object));
	const last = range.entries.at(-1);
	if (options.limit === undefined || range.remaining === 0 || last === undefined)
		return { items, revision: options.revision };
	return {
		items,
		revision: options.revision,
		// The smallest key behind the last one.
		continueToken: continueToken(options.revision, `${last.key}\u0000`),
		...(selection.isEverything ? { remainingItemCount: range.remaining } : {}),
	};
}

/** With a token that goes on in the newest state, where a list was under way. */
function forgotten({ start }: PageOptions): ApiError {
	return expiredList(start === undefined ? undefined : continueToken(-1, start));
}

/** The largest of its type, uint64. Past 2^53 a revision loses digits, and is too large all the same. */
const RESOURCE_VERSION_MAX = 2n ** 64n - 1n;

/** @throws {ApiError} `BadRequest` */
export function parseResourceVersion(text: string | undefined): Revision {
	if (text === undefined || text === "") return 0;
	if (!/^\d{1,20}$/.test(text) || BigInt(text) > RESOURCE_VERSION_MAX) {
		throw badRequest(`invalid resource version: ${JSON.stringify(text)}: must be a number`);
	}
	return Number(text);
}

function listQueryProblems(query: ListQuery): FieldError[] {
	const match = query.resourceVersionMatch ?? "";
	if (query.sendInitialEvents !== undefined) {
		return [forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list")];
	}
	if (match === "") return [];
	const field = "resourceVersionMatch";
	if (query.continueToken !== undefined) {
		return [forbiddenField(field, "resourceVersionMatch is forbidden when continue is provided")];
	}
	if (query.resourceVersion === undefined || query.resourceVersion === "") {
		return [forbiddenField(field, "resourceVersionMatch is forbidden unless resourceVersion is provided")];
	}
	if (match !== "Exact" && match !== "NotOlderThan") return [notSupported(field, match, ["Exact", "NotOlderThan", ""])];
	if (match === "Exact" && query.resourceVersion === "0") {
		return [forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')];
	}
	return [];
}
