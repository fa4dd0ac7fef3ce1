/** What happens to the requests and watches of a component on their way: steps of a scenario set it. */
import { setMaxListeners } from "node:events";
import { keyOf, type Resource } from "../../api/resource.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isObject } from "../../kernel/json.ts";
import { TransportError, type WatchEvent } from "../../machinery/api-client.ts";
import type { ClientCall, Faults } from "../../testing/faulty-client.ts";
import { Gate } from "./gate.ts";
import type { ServerFaults } from "./server-faults.ts";
import type { Trace } from "./trace.ts";
import type { WriteCounts } from "./write-counts.ts";

/** A list that is slow for once takes so long. */
const SLOW_LIST_MS = 3_000;

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "post", "delete", "deletecollection"]);

export interface FaultPorts {
	readonly clock: Clock;
	readonly server: ServerFaults;
	readonly trace: Trace;
	/** Absent: the component's writes are not counted. */
	readonly counts?: WriteCounts;
	/** Virtual time that a write takes on its way. Default 0. */
	readonly latencyMs?: number;
	/** Told of every write whose answer the component gets. */
	readonly wrote?: (verb: ClientCall["verb"], answer: unknown) => void;
}

/** Whether this is the write whose reply is to be held; `answer` is what the server made of it. */
export type IsMeant = (call: ClientCall, answer: unknown) => boolean;

export class ComponentFaults implements Faults {
	/** Closed while the component is paused. */
	readonly pause: Gate = new Gate();
	readonly name: string;
	/** Nothing reaches the server, as if the cable were out. */
	isCutOff = false;
	readonly #ports: FaultPorts;
	readonly #lagging = new Map<string, Gate>();
	readonly #slowLists = new Set<string>();
	readonly #reply: Gate = new Gate();
	#isMeant: IsMeant | undefined;
	#held = 0;
	#lostReplies = 0;
	#isCut = false;
	#cutting = patientController();

	constructor(name: string, ports: FaultPorts) {
		this.name = name;
		this.#ports = ports;
	}

	/** Whether events of some resource are held back. */
	get isLagging(): boolean {
		return this.#lagging.size > 0;
	}

	/** Calls whose reply is held back now. */
	get heldReplies(): number {
		return this.#held;
	}

	lag(resource: Resource): void {
		const gate = this.#lagging.get(resource.plural) ?? new Gate();
		gate.close();
		this.#lagging.set(resource.plural, gate);
	}

	releaseLag(): void {
		for (const gate of this.#lagging.values()) gate.open();
		this.#lagging.clear();
	}

	slowList(resource: Resource): void {
		this.#slowLists.add(resource.plural);
	}

	/** The reply to the next write that is meant is held back until {@link releaseReply}. */
	holdReply(isMeant: IsMeant): void {
		this.#isMeant = isMeant;
		this.#reply.close();
	}

	releaseReply(): void {
		this.#isMeant = undefined;
		this.#reply.open();
	}

	/** The answers to so many writes are lost: the writes land, and the component hears of a broken connection. */
	loseReplies(count: number): void {
		this.#lostReplies = count;
	}

	/** Nothing gets out and no answer in, as when the process died; what waits, waits no longer. */
	cut(): void {
		this.#isCut = true;
		this.#cutting.abort();
		this.heal();
	}

	/** The process is another one. */
	restore(): void {
		this.#isCut = false;
		this.#cutting = patientController();
	}

	/** Ends everything that holds back or loses. */
	heal(): void {
		this.#lostReplies = 0;
		this.pause.open();
		this.releaseLag();
		this.releaseReply();
		this.#slowLists.clear();
	}

	async call<R>(about: ClientCall, send: () => Promise<R>): Promise<R> {
		await this.pause.passed(about.signal);
		this.#requireConnection();
		const { server, clock } = this.#ports;
		if (this.isCutOff) throw new TransportError("unreachable", "no route to host");
		server.check(about);
		if (about.verb === "list" && this.#slowLists.delete(about.resource.plural)) {
			await clock.sleep(SLOW_LIST_MS, about.signal);
		}
		if (!WRITES.has(about.verb)) return send();
		await this.#travel();
		return this.#write(about, send);
	}

	async deliver(about: ClientCall, batch: readonly WatchEvent<KubeObject>[]): Promise<boolean> {
		await this.pause.passed(about.signal);
		await this.#lagging.get(about.resource.plural)?.passed(about.signal);
		if (this.#isCut) return false;
		for (const event of batch) {
			if (event.type !== "BOOKMARK") this.#ports.trace.saw(this.name, event.type, about.resource.plural, event.object);
		}
		return true;
	}

	async #write<R>(about: ClientCall, send: () => Promise<R>): Promise<R> {
		const { trace, counts, wrote } = this.#ports;
		const { verb, resource, namespace, name } = about;
		const place = `${resource.plural} ${namespace === "" ? name : `${namespace}/${name}`}`;
		let answer: R;
		try {
			answer = await send();
		} catch (error) {
			trace.wrote(this.name, verb, place, error instanceof Error ? error.message : String(error));
			throw error;
		}
		const written = isKubeObject(answer) ? `${resource.plural} ${keyOf(answer)}` : place;
		trace.wrote(this.name, verb, written, outcomeOf(answer));
		counts?.add(resource.kind, verb);
		if (this.#isMeant?.(about, answer) === true) await this.#waitForReply(about);
		if (this.#lostReplies > 0) {
			this.#lostReplies--;
			throw new TransportError("broken", "the answer was lost");
		}
		this.#requireConnection();
		wrote?.(verb, answer);
		return answer;
	}

	async #travel(): Promise<void> {
		const { latencyMs = 0, clock } = this.#ports;
		if (latencyMs > 0) await clock.sleep(latencyMs, this.#cutting.signal).catch(() => undefined);
		this.#requireConnection();
	}

	#requireConnection(): void {
		if (this.#isCut) throw new TransportError("broken", "the process is dead");
	}

	async #waitForReply(about: ClientCall): Promise<void> {
		this.#isMeant = undefined;
		this.#held++;
		await this.#reply.passed(about.signal);
		this.#held--;
	}
}

/** Every write that is on its way listens to its signal. */
function patientController(): AbortController {
	const controller = new AbortController();
	setMaxListeners(0, controller.signal);
	return controller;
}

function isKubeObject(answer: unknown): answer is KubeObject {
	return isObject(answer) && isObject(answer["metadata"]) && typeof answer["metadata"]["uid"] === "string";
}

function outcomeOf(answer: unknown): string {
	return isKubeObject(answer) ? `@${answer.metadata.resourceVersion}` : "done";
}
