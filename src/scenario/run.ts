/** One run of a scenario: the plane, and what the steps have to remember. */
import type { ResourceType } from "../api/resource.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { IPFamily, KubeObject } from "../api/types/meta.ts";
import { SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { sortedBy } from "../kernel/order.ts";
import type { TestWatch } from "../testing/test-watch.ts";
import type { Given } from "./format/scenario-file.ts";
import type { ObjectSelector } from "./format/vocabulary.ts";
import { DEFAULT_NAMESPACE } from "./objects/drafts.ts";
import { type ScenarioPlane, typeOfKind } from "./plane/scenario-plane.ts";
import type { Reply } from "./reply.ts";

/** What `save` keeps of an object. */
export interface Saved {
	readonly type: ResourceType;
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
}

/** What `save` keeps of a proxy's rule set. */
export interface SavedRuleset {
	readonly node: string;
	readonly family: IPFamily;
	readonly version: number;
}

/** A step that cannot do what it says: the scenario fails there. */
export class StepError extends Error {
	override readonly name = "StepError";
}

export class ScenarioRun {
	readonly plane: ScenarioPlane;
	/** The start state, with the cluster IP that a lone Service has. */
	readonly given: Given;
	/** The uids that the server made, by the symbols that stand for them. */
	readonly uids: Map<string, string> = new Map();
	readonly saved: Map<string, readonly Saved[]> = new Map();
	readonly savedRulesets: Map<string, SavedRuleset> = new Map();
	/** Continue tokens, by name. */
	readonly tokens: Map<string, string> = new Map();
	readonly streams: Map<string, TestWatch> = new Map();
	/** `namespace/name` of every Pod that the scenario made, in order. */
	readonly podsMade: string[] = [];
	/** To the last step that has one. */
	reply: Reply | undefined;
	/** How long the next assertion may take to become true. */
	waitMs: number | undefined;

	constructor(plane: ScenarioPlane, given: Given) {
		this.plane = plane;
		this.given = given;
	}

	/** The objects that are named, in order of names. */
	found(selector: ObjectSelector & { readonly deleting?: boolean }): readonly KubeObject[] {
		const { kind, ns = DEFAULT_NAMESPACE, index, deleting } = selector;
		const all = this.plane.stored(typeOfKind(kind), ns).filter((object) => isNamed(object, selector));
		const sorted = sortedBy(all, ({ metadata }) => metadata.name);
		const indexed = index === undefined ? sorted : sorted.slice(index, index + 1);
		return indexed.filter(
			({ metadata }) => deleting === undefined || deleting === (metadata.deletionTimestamp !== undefined),
		);
	}

	/** @throws {StepError} Unless exactly one object is named. */
	only(selector: ObjectSelector): KubeObject {
		const found = this.found(selector);
		const [object] = found;
		if (object === undefined || found.length > 1) {
			throw new StepError(`${JSON.stringify(selector)} names ${found.length} objects, want exactly one`);
		}
		return object;
	}

	/** The uid that the symbol stands for, or the symbol when it stands for none. */
	uid(symbol: string): string {
		return this.uids.get(symbol) ?? symbol;
	}
}

function isNamed(object: KubeObject, { name, service, managedBy, addressType }: ObjectSelector): boolean {
	const { labels = {} } = object.metadata;
	return (
		(name === undefined || object.metadata.name === name) &&
		(service === undefined || labels[SERVICE_NAME_LABEL] === service) &&
		(managedBy === undefined || labels[SLICE_MANAGED_BY_LABEL] === managedBy) &&
		(addressType === undefined || ("addressType" in object && (object as EndpointSlice).addressType === addressType))
	);
}
