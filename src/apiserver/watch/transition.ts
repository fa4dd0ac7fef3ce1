/** What a change of the store means to one watcher. */
import type { KubeObject } from "../../api/types/meta.ts";
import type { StoreEvent } from "../../store/entry.ts";
import { stamped } from "../../store/entry.ts";
import type { Selection } from "../selection.ts";

export interface ObjectEvent {
	readonly type: "ADDED" | "MODIFIED" | "DELETED";
	readonly object: KubeObject;
}

/**
 * An object that enters the selection is ADDED, one that leaves it is DELETED with its old state and
 * the new revision, and one that was never in it is nothing at all.
 */
export function transition(event: StoreEvent, selection: Selection): ObjectEvent | undefined {
	if (!isInNamespace(event.current.object, selection.namespace)) return undefined;
	const wasSelected = event.previous !== undefined && selection.matches(event.previous.object);
	const isSelected = event.kind === "put" && selection.matches(event.current.object);
	if (isSelected) {
		return { type: wasSelected ? "MODIFIED" : "ADDED", object: selection.shown(event.current.object) };
	}
	if (!wasSelected || event.previous === undefined) return undefined;
	if (event.kind === "delete") return { type: "DELETED", object: selection.shown(event.current.object) };
	return { type: "DELETED", object: selection.shown(stamped(event.previous.object, event.revision)) };
}

function isInNamespace(object: KubeObject, namespace: string): boolean {
	return namespace === "" || object.metadata.namespace === namespace;
}
