/** What becomes of an object whose owners go. @see https://kubernetes.io/docs/concepts/architecture/garbage-collection/ */
import type { KubeObject, OwnerReference } from "../api/types/meta.ts";

export const FOREGROUND_FINALIZER = "foregroundDeletion";
export const ORPHAN_FINALIZER = "orphan";

export type OwnerState =
	/** There, and stays. */
	| "solid"
	/** There, and waits in foreground for its dependents to go. */
	| "waiting"
	/** Not there: gone, or another object of the same name. */
	| "absent"
	/** Of a kind that is not served: nobody can tell. */
	| "unknown";

export interface DependentWorld {
	readonly object: KubeObject;
	readonly owners: readonly { readonly reference: OwnerReference; readonly state: OwnerState }[];
	/** Whether the object owns others itself. */
	readonly hasDependents: boolean;
}

export type DependentPlan =
	| { readonly kind: "keep" }
	/** Some owners stay: the references to these go. */
	| { readonly kind: "disown"; readonly uids: readonly string[] }
	| { readonly kind: "delete"; readonly propagationPolicy: "Background" | "Foreground" | "Orphan" };

export function planDependent({ object, owners, hasDependents }: DependentWorld): DependentPlan {
	const stay = owners.filter(({ state }) => state === "solid");
	// Nothing is done on a guess: an owner that nobody can look up may be there.
	if (stay.length === owners.length || owners.some(({ state }) => state === "unknown")) return { kind: "keep" };
	if (stay.length > 0) {
		const gone = owners.filter(({ state }) => state !== "solid");
		return { kind: "disown", uids: gone.map(({ reference }) => reference.uid) };
	}
	if (hasDependents && owners.some(({ state }) => state === "waiting")) {
		return { kind: "delete", propagationPolicy: "Foreground" };
	}
	return { kind: "delete", propagationPolicy: policyOf(object) };
}

/** A wish that the object carries already as a finalizer holds. */
function policyOf({ metadata }: KubeObject): "Background" | "Foreground" | "Orphan" {
	if (metadata.finalizers?.includes(ORPHAN_FINALIZER)) return "Orphan";
	return metadata.finalizers?.includes(FOREGROUND_FINALIZER) ? "Foreground" : "Background";
}

export function isDeleting({ metadata }: KubeObject): boolean {
	return metadata.deletionTimestamp !== undefined;
}

export function waitsInForeground(object: KubeObject): boolean {
	return isDeleting(object) && (object.metadata.finalizers ?? []).includes(FOREGROUND_FINALIZER);
}

export function waitsToOrphan(object: KubeObject): boolean {
	return isDeleting(object) && (object.metadata.finalizers ?? []).includes(ORPHAN_FINALIZER);
}

/** Whether an owner in foreground must wait for this dependent. */
export function blocks(owner: KubeObject, dependent: KubeObject): boolean {
	return (dependent.metadata.ownerReferences ?? []).some(
		(reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true,
	);
}
