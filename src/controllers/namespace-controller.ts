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
import { timestamp } from "../plan/timestamp.ts";
import { hasEnded } from "../plan/workloads/pod-state.ts";
import { NamespaceContent } from "./namespace-content.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const WORKERS = 10;
/** Upstream waits so long after an event, so that other servers have seen the deletion too. */
const GRACE_MS = 5_000;
/** Time for whoever holds what is left by a finalizer. */
const FINALIZER_SECONDS = 15;
const FINALIZER = "kubernetes";

interface Emptied {
	/** How long what is left may need; undefined when nothing is left. */
	readonly waitSeconds: number | undefined;
	/** The first of what went wrong. */
	readonly failure: Error | undefined;
}

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
		const content = new NamespaceContent();
		const { waitSeconds, failure } = await this.#empty(namespace, content);
		await this.#tell(name, content);
		if (failure !== undefined) throw failure;
		if (waitSeconds !== undefined) {
			const afterMs = (Math.floor(waitSeconds / 2) + 1) * 1000;
			return { kind: "recheck", afterMs, why: "content is left" };
		}
		await this.#finalize(name);
		return SETTLED;
	}

	/** Asks for everything to go, and notes what is left. What fails does not keep the rest. */
	async #empty(namespace: Namespace, content: NamespaceContent): Promise<Emptied> {
		const { name } = namespace.metadata;
		let failure: Error | undefined;
		let waitSeconds: number | undefined;
		const empty = async (resource: Resource): Promise<readonly KubeObject[]> => {
			try {
				const items = await this.#emptied(resource, name);
				content.add(resource, items);
				if (items.length > 0) waitSeconds = Math.max(waitSeconds ?? 0, secondsForFinalizers(items));
				return items;
			} catch (error) {
				const fault = error instanceof Error ? error : new Error(String(error));
				content.addFailure(fault.message);
				failure ??= fault;
				return [];
			}
		};
		const pods = (await empty(PODS)) as readonly Pod[];
		if (pods.length > 0 && waitSeconds !== undefined) {
			return { waitSeconds: this.#graceSeconds(pods, namespace) || waitSeconds, failure };
		}
		if (failure !== undefined) return { waitSeconds, failure };
		const custom = this.#definitions.list().flatMap(customResources);
		for (const resource of [...this.#resources, ...custom.filter(({ namespaced }) => namespaced)])
			await empty(resource);
		return { waitSeconds, failure };
	}

	/** Writes down what is left, when that is news. */
	async #tell(name: string, content: NamespaceContent): Promise<void> {
		const { client, clock } = this.#ports;
		const namespace = await ignoreNotFound(client.get(NAMESPACES, { namespace: "", name }));
		if (namespace === undefined) return;
		const known = namespace.status?.conditions ?? [];
		const conditions = content.conditions(known, timestamp(clock.wallMs()));
		if (conditions === known) return;
		const next = { ...namespace, status: { ...namespace.status, conditions } };
		await ignoreNotFound(client.update(NAMESPACES, next, { subresource: "status" }));
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
