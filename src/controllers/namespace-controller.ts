/** Empties namespaces that are being deleted, Pods first, and lets them go. */
import type { Resource } from "../api/resource.ts";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, PODS } from "../api/resource-names.ts";
import { customResources } from "../api/structural/custom-resources.ts";
import type { CustomResourceDefinition } from "../api/types/apiextensions.ts";
import type { Namespace, Pod } from "../api/types/core.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { hasEnded } from "../plan/workloads/pod-state.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const WORKERS = 10;
/** Upstream waits so long after an event, so that other servers have seen the deletion too. */
const GRACE_MS = 5_000;
/** Time for whoever holds what is left by a finalizer. */
const FINALIZER_SECONDS = 15;
const FINALIZER = "kubernetes";

export class NamespaceController implements Controller, Reconciler {
	readonly name = "namespace-controller";
	readonly #ports: ControllerPorts;
	readonly #namespaces: Informer<Namespace>;
	readonly #definitions: Informer<CustomResourceDefinition>;
	readonly #resources: readonly Resource[];
	readonly #queue: WorkQueue<string>;

	/** @param resources Every resource whose objects live in namespaces, Pods left out or not. */
	constructor(ports: ControllerPorts, resources: readonly Resource[]) {
		this.#ports = ports;
		this.#namespaces = ports.informers.of(NAMESPACES);
		this.#definitions = ports.informers.of(CUSTOM_RESOURCE_DEFINITIONS);
		this.#resources = resources.filter(({ namespaced, plural }) => namespaced && plural !== PODS.plural);
		this.#queue = ports.queues.make({ name: "namespace" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		const see = ({ metadata }: Namespace): void => {
			if (metadata.deletionTimestamp !== undefined) this.#queue.addAfter(metadata.name, GRACE_MS);
		};
		this.#namespaces.addHandlers({ added: see, updated: (_old, namespace) => see(namespace) });
		await this.#namespaces.whenSynced(signal).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(name: string): Promise<Outcome> {
		const namespace = this.#namespaces.get(name);
		if (namespace?.metadata.deletionTimestamp === undefined) return SETTLED;
		const waitSeconds = await this.#empty(namespace);
		if (waitSeconds !== undefined) {
			const afterMs = (Math.floor(waitSeconds / 2) + 1) * 1000;
			return { kind: "recheck", afterMs, why: "content is left" };
		}
		await this.#finalize(name);
		return SETTLED;
	}

	/** Asks for everything to go. Resolves with how long what is left may need; undefined when nothing is left. */
	async #empty(namespace: Namespace): Promise<number | undefined> {
		const { name } = namespace.metadata;
		const pods = await this.#emptied(PODS, name);
		if (pods.length > 0) return this.#graceSeconds(pods, namespace) || secondsForFinalizers(pods);
		let left: number | undefined;
		const custom = this.#definitions
			.list()
			.flatMap(customResources)
			.filter(({ namespaced }) => namespaced);
		for (const resource of [...this.#resources, ...custom]) {
			const items = await this.#emptied(resource, name);
			if (items.length > 0) left = Math.max(left ?? 0, secondsForFinalizers(items));
		}
		return left;
	}

	/** Deletes what is there, and resolves with what is still there; of a resource that is no longer served, nothing. */
	async #emptied<T extends KubeObject>(resource: Resource<T>, namespace: string): Promise<readonly T[]> {
		const { client } = this.#ports;
		const left = async (): Promise<readonly T[]> => {
			await client.deleteCollection(resource, namespace, { propagationPolicy: "Background" });
			return (await client.list(resource, { namespace })).items;
		};
		return (await ignoreNotFound(left())) ?? [];
	}

	/** The longest grace period of a Pod that still runs; nothing once that time has passed. */
	#graceSeconds(pods: readonly Pod[], { metadata }: Namespace): number {
		const running = pods.filter((pod) => !hasEnded(pod));
		const longest = Math.max(0, ...running.map(({ spec }) => spec.terminationGracePeriodSeconds ?? 0));
		const passedMs = this.#ports.clock.wallMs() - Date.parse(metadata.deletionTimestamp ?? "");
		return passedMs >= longest * 1000 ? 0 : longest;
	}

	async #finalize(name: string): Promise<void> {
		const { client } = this.#ports;
		const namespace = await ignoreNotFound(client.get(NAMESPACES, { namespace: "", name }));
		if (namespace === undefined) return;
		const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
		await ignoreNotFound(
			client.update(NAMESPACES, { ...namespace, spec: { ...namespace.spec, finalizers } }, { subresource: "finalize" }),
		);
	}
}

function secondsForFinalizers(items: readonly KubeObject[]): number {
	return items.some(({ metadata }) => (metadata.finalizers ?? []).length > 0) ? FINALIZER_SECONDS : 0;
}
