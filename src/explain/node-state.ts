import type { Node } from "../api/types/core.ts";

/** A Node that says nothing of it was made by hand, and is taken as it is. */
export function isReadyNode({ status }: Node): boolean {
	const ready = status?.conditions?.find(({ type }) => type === "Ready");
	return ready === undefined || ready.status === "True";
}
