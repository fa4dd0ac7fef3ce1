/** What must hold of every commit, whoever asked for it. */
import type { ResourceType } from "../../api/resource.ts";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import type { Service } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import type { Revision } from "../../store/entry.ts";
import type { ModelEvent } from "./cluster-model.ts";
import type { Verdict } from "./verdict.ts";

type Committed = ModelEvent & { readonly space: string };

const TYPES: ReadonlyMap<string, ResourceType> = new Map(
	RESOURCE_TYPES.filter(({ storedForm }) => storedForm === undefined).map((type) => [type.storagePrefix, type]),
);
const REVISION_ANNOTATION = "deployment.kubernetes.io/revision";
const SERVICES_SPACE = "/registry/services/specs/";

export class CommitRules {
	readonly #verdict: Verdict;
	readonly #uids = new Set<string>();
	/** Cluster IPs and node ports, with the key of the Service that has them. */
	readonly #claims = new Map<string, string>();
	#revision: Revision = 0;

	constructor(verdict: Verdict) {
		this.#verdict = verdict;
	}

	check(revision: Revision, events: readonly Committed[]): void {
		if (revision <= this.#revision) this.#verdict.broke("stored", `revision ${revision} after ${this.#revision}`);
		this.#revision = revision;
		for (const event of events) {
			const type = TYPES.get(event.space);
			if (type === undefined) continue;
			this.#checkIdentity(event);
			this.#checkGeneration(type, event);
			if (event.space === SERVICES_SPACE) this.#checkClaims(event);
		}
	}

	#checkIdentity({ key, object, previous, isDeletion }: Committed): void {
		const { uid } = object.metadata;
		if (previous === undefined) {
			if (uid === "" || this.#uids.has(uid)) this.#verdict.broke("stored", `${object.kind} ${key}: uid ${uid} again`);
			this.#uids.add(uid);
		} else if (previous.metadata.uid !== uid) {
			this.#verdict.broke("stored", `${object.kind} ${key}: uid changed from ${previous.metadata.uid} to ${uid}`);
		} else if (!isDeletion && deepEqual(unversioned(previous), unversioned(object))) {
			this.#verdict.broke("stored", `${object.kind} ${key}: written without a change`);
		}
	}

	/** The rule of each kind, in words of its own: docs of `metadata.generation`, and KEP-1623's observedGeneration. */
	#checkGeneration({ generation: rule }: ResourceType, { key, object, previous, isDeletion }: Committed): void {
		if (isDeletion) return;
		const now = object.metadata.generation ?? 0;
		const before = previous?.metadata.generation ?? 0;
		const isMarked = object.metadata.deletionTimestamp !== previous?.metadata.deletionTimestamp;
		if (rule === "never" || isMarked) return;
		const isRaised = previous === undefined || changes(rule, previous, object);
		const wanted = before + (isRaised ? 1 : 0);
		if (now === wanted) return;
		this.#verdict.broke("stored", `${object.kind} ${key}: generation ${now} after ${before}, want ${wanted}`);
	}

	#checkClaims({ key, object, previous, isDeletion }: Committed): void {
		for (const claim of claimsOf(previous)) this.#claims.delete(claim);
		if (isDeletion) return;
		for (const claim of claimsOf(object)) {
			const other = this.#claims.get(claim);
			if (other !== undefined) this.#verdict.broke("claimed", `${claim} of Service ${other} is given to ${key}`);
			this.#claims.set(claim, key);
		}
	}
}

function unversioned(object: KubeObject): object {
	return { ...object, metadata: { ...object.metadata, resourceVersion: "" } };
}

function changes(rule: ResourceType["generation"], before: KubeObject, after: KubeObject): boolean {
	const differs = (field: string): boolean => !deepEqual(fieldOf(before, field), fieldOf(after, field));
	const spec = differs("spec");
	if (rule === "spec") return spec;
	const metadata = before.metadata;
	if (rule === "spec-or-annotations") return spec || annotationsDiffer(before, after);
	const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
	fields.delete("metadata");
	const others = [...fields].some(differs);
	if (rule === "all-but-metadata") return others;
	return others || !deepEqual(metadata.labels ?? {}, after.metadata.labels ?? {});
}

/** But for the one that a controller writes with the status, which is no change of what is wanted. */
function annotationsDiffer(before: KubeObject, after: KubeObject): boolean {
	const wanted = ({ metadata }: KubeObject): object => ({ ...metadata.annotations, [REVISION_ANNOTATION]: "" });
	return !deepEqual(wanted(before), wanted(after));
}

function fieldOf(object: KubeObject, field: string): unknown {
	return Object.entries(object).find(([name]) => name === field)?.[1];
}

/** A number may be taken once for each protocol. */
function claimsOf(object: KubeObject | undefined): readonly string[] {
	if (object === undefined) return [];
	const { spec } = object as Service;
	const ips = (spec.clusterIPs ?? []).filter((ip) => ip !== "" && ip !== "None");
	const ports = (spec.ports ?? []).filter(({ nodePort = 0 }) => nodePort > 0);
	const nodePorts = ports.map(({ nodePort, protocol = "TCP" }) => `${nodePort}/${protocol}`);
	return [...new Set([...ips, ...nodePorts])];
}
