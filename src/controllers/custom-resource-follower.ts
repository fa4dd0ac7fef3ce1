/** Which custom resources there are: they come and go with their definitions, and so do the caches of their objects. */
import type { Resource } from "../api/resource.ts";
import { CUSTOM_RESOURCE_DEFINITIONS } from "../api/resource-names.ts";
import { customResources, servesKind } from "../api/structural/custom-resources.ts";
import type { CustomResourceDefinition } from "../api/types/apiextensions.ts";
import type { Informers } from "../machinery/informers.ts";

export interface CustomResourceHandlers {
	added(resource: Resource): void;
	/** Its informer has ended. @param isGone The definition is gone, and so are its objects. */
	removed(resource: Resource, isGone: boolean): void;
}

export class CustomResourceFollower {
	readonly #informers: Informers;
	readonly #handlers: CustomResourceHandlers;
	/** By the uid of the definition. */
	readonly #followed = new Map<string, Resource>();

	constructor(informers: Informers, handlers: CustomResourceHandlers) {
		this.#informers = informers;
		this.#handlers = handlers;
		informers.of(CUSTOM_RESOURCE_DEFINITIONS);
	}

	start(): void {
		this.#informers.of(CUSTOM_RESOURCE_DEFINITIONS).addHandlers({
			added: (definition) => this.#see(definition),
			updated: (_old, definition) => this.#see(definition),
			deleted: ({ metadata }) => this.#drop(metadata.uid, true),
		});
	}

	has(resource: Resource): boolean {
		return [...this.#followed.values()].includes(resource);
	}

	/** The resource of a kind, in whichever version it is followed. */
	ofKind(apiVersion: string, kind: string): Resource | undefined {
		const definitions = this.#informers.of(CUSTOM_RESOURCE_DEFINITIONS).list();
		const definition = definitions.find((each) => servesKind(each, apiVersion, kind));
		return definition === undefined ? undefined : this.#followed.get(definition.metadata.uid);
	}

	#see(definition: CustomResourceDefinition): void {
		const { uid } = definition.metadata;
		const [resource] = customResources(definition);
		const known = this.#followed.get(uid);
		if (known !== undefined && resource !== undefined && known.version === resource.version) return;
		this.#drop(uid, false);
		if (resource === undefined) return;
		this.#followed.set(uid, resource);
		this.#handlers.added(resource);
	}

	#drop(uid: string, isGone: boolean): void {
		const resource = this.#followed.get(uid);
		if (resource === undefined) return;
		this.#followed.delete(uid);
		this.#informers.drop(resource);
		this.#handlers.removed(resource, isGone);
	}
}
