/** One shared informer per resource, over one ApiClient. */
import { apiVersionOf, type Resource } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { Informer } from "./informer.ts";
import type { ReflectorPorts } from "./run-reflector.ts";

/** What all informers have in common, whatever their objects are. */
type AnyInformer = Pick<Informer<KubeObject>, "hasSynced" | "isFollowing" | "run" | "whenSynced">;

export class Informers {
	readonly #ports: ReflectorPorts;
	readonly #informers = new Map<string, AnyInformer>();
	/** Ends one informer alone, by its key; only while all of them run. */
	readonly #endings = new Map<string, AbortController>();
	#start: ((key: string, informer: AnyInformer) => void) | undefined;

	constructor(ports: ReflectorPorts) {
		this.#ports = ports;
	}

	/** The informer of the resource, made when first asked for. Asked for after `run`, it starts at once. */
	of<T extends KubeObject>(resource: Resource<T>): Informer<T> {
		const key = `${apiVersionOf(resource)}/${resource.plural}`;
		const known = this.#informers.get(key);
		// The resource names the type of its objects, so what was stored under it has that type.
		if (known instanceof Informer) return known;
		const informer: Informer<T> = new Informer(this.#ports, resource);
		this.#informers.set(key, informer);
		this.#start?.(key, informer);
		return informer;
	}

	/** Ends the informer of a resource that is no longer served. Asked for again, there is a new one. */
	drop(resource: Resource): void {
		const key = `${apiVersionOf(resource)}/${resource.plural}`;
		this.#endings.get(key)?.abort();
		this.#endings.delete(key);
		this.#informers.delete(key);
	}

	/** Whether every informer asked for so far has its first list. */
	get hasSynced(): boolean {
		return [...this.#informers.values()].every((informer) => informer.hasSynced);
	}

	/** Whether every informer asked for so far follows the server, none waits after a failure. */
	get areFollowing(): boolean {
		return [...this.#informers.values()].every((informer) => informer.isFollowing);
	}

	/** Resolves when every informer asked for so far has its first list. Rejects when aborted. */
	async whenSynced(signal: AbortSignal): Promise<void> {
		await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)));
	}

	/** Runs all informers until `signal` aborts and each has ended. Call it once. */
	async run(signal: AbortSignal): Promise<void> {
		const runs: Promise<void>[] = [];
		let fail: (error: unknown) => void = () => undefined;
		const stopped = new Promise<void>((resolve, reject) => {
			fail = reject;
			if (signal.aborted) resolve();
			else signal.addEventListener("abort", () => resolve(), { once: true });
		});
		this.#start = (key, informer) => {
			const ending = new AbortController();
			this.#endings.set(key, ending);
			const run = informer.run(ending.signal);
			run.catch(fail);
			runs.push(run);
		};
		for (const [key, informer] of this.#informers) this.#start(key, informer);
		await stopped.finally(() => {
			for (const ending of this.#endings.values()) ending.abort(signal.reason);
		});
		this.#start = undefined;
		await Promise.all(runs);
	}
}
