/** The resources that definitions in the store add to the API, in step with the store. */
import { CUSTOM_RESOURCE_DEFINITION } from "../../api/kinds/custom-resource-definition.ts";
import { apiVersionOf, type Resource, type ResourceType, type Verb } from "../../api/resource.ts";
import { customTypes, hasCondition, servesTheSame, spaceOf } from "../../api/structural/custom-type.ts";
import type { RuleCompiler } from "../../api/structural/rules.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions.ts";
import type { Store } from "../../store/store.ts";

interface Known {
	readonly definition: CustomResourceDefinition;
	readonly types: readonly ResourceType[];
}

/** Told the space of objects that are no longer served as they were: who watches them must start again. */
export type ChangeListener = (space: string) => void;

export class CustomTypes {
	readonly #store: Store;
	readonly #compiler: RuleCompiler | undefined;
	/** By the name of the definition. */
	#known: ReadonlyMap<string, Known> = new Map();
	#byPath: ReadonlyMap<string, ResourceType> = new Map();
	#list: readonly ResourceType[] = [];
	#discovered: readonly ResourceType[] = [];
	readonly #listeners = new Set<ChangeListener>();
	readonly #changes = new Map<string, number>();

	constructor(store: Store, compiler: RuleCompiler | undefined) {
		this.#store = store;
		this.#compiler = compiler;
		this.#follow();
		store.onCommit((spaces) => {
			if (spaces.has(CUSTOM_RESOURCE_DEFINITION.storagePrefix)) this.#follow();
		});
	}

	find(resource: Pick<Resource, "group" | "version" | "plural">): ResourceType | undefined {
		return this.#byPath.get(pathOf(resource));
	}

	/** Sorted by group; the same list until a definition changes. */
	get list(): readonly ResourceType[] {
		return this.#list;
	}

	/** What clients find: nobody is invited to make what is about to go. The same list until a definition changes. */
	get discovered(): readonly ResourceType[] {
		return this.#discovered;
	}

	onChange(listener: ChangeListener): void {
		this.#listeners.add(listener);
	}

	/** How often objects of this space stopped being served as they were. */
	changesOf(space: string): number {
		return this.#changes.get(space) ?? 0;
	}

	#follow(): void {
		const before = this.#known;
		const next = new Map<string, Known>();
		for (const definition of definitionsOf(this.#store)) {
			const { name } = definition.metadata;
			next.set(name, this.#knownOf(definition, before.get(name)));
		}
		this.#known = next;
		const types = [...next.values()].flatMap((known) => known.types);
		if (types.length !== this.#list.length || types.some((type, index) => type !== this.#list[index])) {
			this.#list = types;
			this.#discovered = types.map((type) =>
				type.custom?.isTerminating === true ? { ...type, verbs: WHEN_TERMINATING } : type,
			);
			this.#byPath = new Map(types.map((type) => [pathOf(type), type]));
		}
		for (const [name, known] of before) if (isOver(known, next.get(name))) this.#tell(known);
	}

	/** A status that says nothing new leaves the types as they are, and what was made for them. */
	#knownOf(definition: CustomResourceDefinition, known: Known | undefined): Known {
		if (known?.definition === definition) return known;
		const isSame =
			known !== undefined &&
			servesTheSame(known.definition, definition) &&
			isTerminating(known.definition) === isTerminating(definition);
		return { definition, types: isSame ? known.types : customTypes(definition, this.#compiler) };
	}

	#tell({ definition }: Known): void {
		const space = spaceOf(definition.spec);
		this.#changes.set(space, this.changesOf(space) + 1);
		for (const listener of this.#listeners) listener(space);
	}
}

const WHEN_TERMINATING: readonly Verb[] = ["delete", "deletecollection", "get", "list", "watch"];

function pathOf(resource: Pick<Resource, "group" | "version" | "plural">): string {
	return `${apiVersionOf(resource)}/${resource.plural}`;
}

function isTerminating(definition: CustomResourceDefinition): boolean {
	return definition.metadata.deletionTimestamp !== undefined || hasCondition(definition, "Terminating");
}

function isOver(before: Known, now: Known | undefined): boolean {
	if (before.types.length === 0) return false;
	return now === undefined || !servesTheSame(before.definition, now.definition);
}

/** All definitions in the store, by group and then by name. */
export function definitionsOf(store: Store): readonly CustomResourceDefinition[] {
	const range = store.space(CUSTOM_RESOURCE_DEFINITION.storagePrefix).range({ prefix: "" });
	const entries = range.kind === "range" ? range.entries : [];
	// Only what was decoded as a definition is stored there.
	const definitions = entries.map(({ object }) => object as CustomResourceDefinition);
	const sortKey = ({ spec, metadata }: CustomResourceDefinition): string => `${spec.group} ${metadata.name}`;
	return [...definitions].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}
