import type { KubeObject } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import type { Revision } from "../../store/entry.ts";
import type { ClusterModel } from "./cluster-model.ts";
import type { Verdict } from "./verdict.ts";
import type { WatchSelection } from "./watch-selection.ts";

export interface Contents {
	readonly what: string;
	readonly selection: WatchSelection;
	readonly revision: Revision;
}

/** What was listed must be what the model has at the revision, and in the order of keys. */
export function checkContents(
	{ what, selection, revision }: Contents,
	listed: ReadonlyMap<string, KubeObject>,
	model: ClusterModel,
	verdict: Verdict,
): void {
	if (revision > model.revision) {
		verdict.broke("listed", `${what}: as of ${revision}, after ${model.revision}`);
		return;
	}
	const state = model.space(selection.type).at(revision);
	const wanted = new Map([...state].filter(([, object]) => selection.matches(object)));
	const keys = [...listed.keys()];
	const sorted = [...wanted.keys()].sort();
	if (keys.join() !== sorted.join()) {
		verdict.broke("listed", `${what}@${revision}: ${keys}, want ${sorted}`);
		return;
	}
	for (const [key, object] of listed) {
		if (deepEqual(untyped(object), untyped(wanted.get(key)))) continue;
		verdict.broke("listed", `${what}@${revision}: ${key} is not what was stored`);
		return;
	}
}

/** Items of a list may leave out what the list itself says. */
function untyped(object: KubeObject | undefined): object {
	if (object === undefined) return {};
	const { apiVersion: _, kind: __, ...others } = object;
	return others;
}
