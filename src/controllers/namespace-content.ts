/** What is left in a namespace that is being deleted, and what its conditions say of that. */
import type { Resource } from "../api/resource.ts";
import type { Condition, KubeObject } from "../api/types/meta.ts";
import { deepEqual } from "../kernel/json.ts";
import { compareStrings } from "../kernel/order.ts";

interface Finding {
	readonly reason: string;
	readonly message: string;
}

/** What each condition says while nothing is to be told, in the order of a real cluster. */
const QUIET: readonly (Finding & { readonly type: string })[] = [
	{
		type: "NamespaceDeletionDiscoveryFailure",
		reason: "ResourcesDiscovered",
		message: "All resources successfully discovered",
	},
	{
		type: "NamespaceDeletionGroupVersionParsingFailure",
		reason: "ParsedGroupVersions",
		message: "All legacy kube types successfully parsed",
	},
	{
		type: "NamespaceDeletionContentFailure",
		reason: "ContentDeleted",
		message: "All content successfully deleted, may be waiting on finalization",
	},
	{ type: "NamespaceContentRemaining", reason: "ContentRemoved", message: "All content successfully removed" },
	{
		type: "NamespaceFinalizersRemaining",
		reason: "ContentHasNoFinalizers",
		message: "All content-preserving finalizers finished",
	},
];

export class NamespaceContent {
	/** Objects, by `configmaps.` or `deployments.apps`. */
	readonly #objects = new Map<string, number>();
	/** Objects that each finalizer holds. */
	readonly #held = new Map<string, number>();
	readonly #failures: string[] = [];

	/** @param items What is still there. */
	add({ plural, group }: Resource, items: readonly KubeObject[]): void {
		for (const { metadata } of items) {
			count(this.#objects, `${plural}.${group}`);
			for (const finalizer of metadata.finalizers ?? []) count(this.#held, finalizer);
		}
	}

	addFailure(message: string): void {
		this.#failures.push(message);
	}

	/** The conditions with what is left now; the same list when they say so already. */
	conditions(known: readonly Condition[], now: string): readonly Condition[] {
		const findings = this.#findings();
		const next = QUIET.map((quiet) => withTime(quiet, findings[quiet.type], known, now));
		const others = known.filter(({ type }) => !QUIET.some((quiet) => quiet.type === type));
		const unchanged = next.every((condition) => known.some((before) => deepEqual(before, condition)));
		return unchanged ? known : [...others, ...next];
	}

	#findings(): Readonly<Record<string, Finding>> {
		const found: Record<string, Finding> = {};
		if (this.#failures.length > 0) {
			const head = `Failed to delete all resource types, ${this.#failures.length} remaining`;
			const message = `${head}: ${[...this.#failures].sort(compareStrings).join(", ")}`;
			found["NamespaceDeletionContentFailure"] = { reason: "ContentDeletionFailed", message };
		}
		if (this.#objects.size > 0) {
			const message = `Some resources are remaining: ${listed(this.#objects, "has")}`;
			found["NamespaceContentRemaining"] = { reason: "SomeResourcesRemain", message };
		}
		if (this.#held.size > 0) {
			const message = `Some content in the namespace has finalizers remaining: ${listed(this.#held, "in")}`;
			found["NamespaceFinalizersRemaining"] = { reason: "SomeFinalizersRemain", message };
		}
		return found;
	}
}

function count(counts: Map<string, number>, key: string): void {
	counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** `configmaps. has 1 resource instances, secrets. has 2 resource instances`. */
function listed(counts: ReadonlyMap<string, number>, word: "has" | "in"): string {
	const texts = [...counts].map(([key, number]) => `${key} ${word} ${number} resource instances`);
	return texts.sort(compareStrings).join(", ");
}

/** The time of a condition is that of its last change from True to False or back. */
function withTime(
	{ type, ...quiet }: (typeof QUIET)[number],
	finding: Finding | undefined,
	known: readonly Condition[],
	now: string,
): Condition {
	const status = finding === undefined ? "False" : "True";
	const before = known.find((condition) => condition.type === type);
	const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
	return { type, status, lastTransitionTime, ...(finding ?? quiet) };
}
