/** Keeps one object of a fixed name in every namespace that is not being deleted. */
import type { Resource } from "../api/resource.ts";
import { NAMESPACES } from "../api/resource-names.ts";
import type { Namespace } from "../api/types/core.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreAlreadyExists, ignoreNotFound, isNamespaceGone } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

export interface PerNamespaceObject<T extends KubeObject> {
	/** Of the controller. */
	readonly name: string;
	readonly resource: Resource<T>;
	readonly draft: Draft<T> & { readonly metadata: { readonly name: string } };
	/** The object as it should be, when somebody has changed it; undefined when it is right. */
	mended(stored: T): T | undefined;
}

export class PerNamespaceController<T extends KubeObject> implements Controller, Reconciler {
	readonly name: string;
	readonly #ports: ControllerPorts;
	readonly #wanted: PerNamespaceObject<T>;
	readonly #namespaces: Informer<Namespace>;
	readonly #objects: Informer<T>;
	/** Keys are names of namespaces. */
	readonly #queue: WorkQueue<string>;

	constructor(ports: ControllerPorts, wanted: PerNamespaceObject<T>) {
		this.name = wanted.name;
		this.#ports = ports;
		this.#wanted = wanted;
		this.#namespaces = ports.informers.of(NAMESPACES);
		this.#objects = ports.informers.of(wanted.resource);
		this.#queue = ports.queues.make({ name: wanted.name });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		const { name } = this.#wanted.draft.metadata;
		const see = (object: T): void => {
			if (object.metadata.name === name) this.#queue.add(object.metadata.namespace ?? "");
		};
		this.#namespaces.addHandlers({
			added: ({ metadata }) => this.#queue.add(metadata.name),
			updated: (_old, { metadata }) => this.#queue.add(metadata.name),
		});
		this.#objects.addHandlers({ updated: (_old, object) => see(object), deleted: see });
		await Promise.all([this.#namespaces.whenSynced(signal), this.#objects.whenSynced(signal)]).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: 1, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(namespace: string): Promise<Outcome> {
		const { resource, draft, mended } = this.#wanted;
		const found = this.#namespaces.get(namespace);
		if (found === undefined || found.metadata.deletionTimestamp !== undefined) return SETTLED;
		const stored = this.#objects.get(`${namespace}/${draft.metadata.name}`);
		if (stored === undefined) {
			await ignoreGone(ignoreAlreadyExists(this.#ports.client.create(resource, namespace, draft)));
			return SETTLED;
		}
		const next = mended(stored);
		if (next !== undefined) await ignoreNotFound(this.#ports.client.update(resource, next));
		return SETTLED;
	}
}

/** The namespace is going, or gone: then nothing is wanted in it. */
async function ignoreGone(write: Promise<unknown>): Promise<void> {
	try {
		await write;
	} catch (error) {
		if (!isNamespaceGone(error)) throw error;
	}
}
