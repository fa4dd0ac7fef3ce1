/** Refusals that a writer expects: what it wanted is so already. */
import { hasCause, hasReason } from "../api/status.ts";

/** undefined if the object is gone already. For deletes: what was wanted is so. */
export function ignoreNotFound<T>(write: Promise<T>): Promise<T | undefined> {
	return write.catch((error: unknown) => {
		if (hasReason(error, "NotFound")) return undefined;
		throw error;
	});
}

/** undefined if somebody else has created it already. */
export function ignoreAlreadyExists<T>(write: Promise<T>): Promise<T | undefined> {
	return write.catch((error: unknown) => {
		if (hasReason(error, "AlreadyExists")) return undefined;
		throw error;
	});
}

/** Of a create: the namespace is being deleted, or has gone before a cache knew of it. */
export function isNamespaceGone(error: unknown): boolean {
	return hasCause(error, "NamespaceTerminating") || hasReason(error, "NotFound");
}
