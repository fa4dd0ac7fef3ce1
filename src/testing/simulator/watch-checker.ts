/** Compares what one session of a watch tells with what the model says it must tell. */
import type { KubeObject } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import type { Revision } from "../../store/entry.ts";
import type { ClusterModel, ModelEvent, ModelSpace } from "./cluster-model.ts";
import type { PromiseName, Verdict } from "./verdict.ts";
import { textOf, type WatchSelection } from "./watch-selection.ts";

interface Expected {
	readonly type: string;
	readonly object: KubeObject;
	readonly event: ModelEvent;
}

export class WatchChecker {
	/** The session broke a promise: what follows says nothing. */
	isBroken = false;
	readonly #selection: WatchSelection;
	readonly #name: string;
	readonly #model: ClusterModel;
	readonly #space: ModelSpace;
	readonly #verdict: Verdict;
	readonly #start: Revision;
	/** Of the model's log: everything before has been told, or is not selected. */
	#next: number;
	#last: Revision;
	#told = 0;
	/** The history that the session needs was gone when it was opened. */
	readonly #mustExpire: boolean;

	/** @param start The revision after which the session tells. */
	constructor(
		about: { readonly name: string; readonly selection: WatchSelection; readonly start: Revision },
		model: ClusterModel,
		verdict: Verdict,
	) {
		this.#selection = about.selection;
		this.#name = `${about.name} (${textOf(about.selection)} from ${about.start})`;
		this.#model = model;
		this.#space = model.space(about.selection.type);
		this.#verdict = verdict;
		this.#start = about.start;
		this.#last = about.start;
		this.#mustExpire = about.start < model.compacted;
		this.#next = this.#space.firstAfter(about.start);
	}

	/** Everything up to here has been told. */
	get last(): Revision {
		return this.#last;
	}

	saw(type: string, object: KubeObject): void {
		if (this.isBroken) return;
		const revision = Number(object.metadata.resourceVersion);
		const told = `${type} ${object.metadata.name}@${revision}`;
		const expected = this.#expected();
		if (expected === undefined) {
			this.#broke(this.#surplus(revision), `told ${told}, and nothing is to be told`);
			return;
		}
		if (expected.event.revision !== revision || expected.object.metadata.uid !== object.metadata.uid) {
			this.#broke(this.#mismatch(expected, revision), `told ${told}, want ${describe(expected)}`);
			return;
		}
		if (expected.type !== type || !deepEqual(expected.object, object)) {
			this.#broke("filtered", `told ${told}, want ${describe(expected)} as it was stored`);
			return;
		}
		this.#next++;
		this.#told++;
		this.#last = revision;
	}

	bookmark(revision: Revision): void {
		if (this.isBroken) return;
		if (revision < this.#last) {
			this.#broke("bookmarkable", `a bookmark of ${revision} after ${this.#last}`);
			return;
		}
		if (revision > this.#model.revision) {
			this.#broke("bookmarkable", `a bookmark of ${revision}, and the newest is ${this.#model.revision}`);
			return;
		}
		const expected = this.#expected();
		if (expected !== undefined && expected.event.revision <= revision) {
			this.#broke("bookmarkable", `a bookmark of ${revision} without ${describe(expected)}`);
			return;
		}
		this.#last = revision;
	}

	/** Everything that there is must have been told. */
	complete(): void {
		if (this.isBroken) return;
		const expected = this.#expected();
		if (expected === undefined) return;
		this.#broke(this.#told === 0 ? "resumable" : "reliable", `never told ${describe(expected)}`);
	}

	/** The server says that the history after the session's revision is gone. */
	expired(): void {
		if (this.#last >= this.#model.compacted) {
			this.#broke("compacted", `told that ${this.#last} is gone, and only what is before ${this.#model.compacted} is`);
		}
	}

	/** The server tells something, or has had the time to. */
	accepted(): void {
		if (!this.#mustExpire || this.isBroken) return;
		this.#broke("compacted", `${this.#start} was taken, though all before ${this.#model.compacted} is gone`);
	}

	ended(why: string): void {
		if (!this.isBroken) this.#broke("answered", `ended: ${why}`);
	}

	#expected(): Expected | undefined {
		for (; this.#next < this.#space.log.length; this.#next++) {
			const event = this.#space.log[this.#next] as ModelEvent;
			const expected = this.#transition(event);
			if (expected !== undefined) return expected;
		}
		return undefined;
	}

	/** What enters the selection is added to it; what leaves it is deleted, as it was when it was in. */
	#transition(event: ModelEvent): Expected | undefined {
		const { object, previous, isDeletion, revision } = event;
		const was = previous !== undefined && this.#selection.matches(previous);
		const is = !isDeletion && this.#selection.matches(object);
		if (is) return { type: was ? "MODIFIED" : "ADDED", object, event };
		if (!was) return undefined;
		const last = isDeletion ? object : previous;
		const metadata = { ...last.metadata, resourceVersion: String(revision) };
		return { type: "DELETED", object: { ...last, metadata }, event };
	}

	#surplus(revision: Revision): PromiseName {
		if (revision <= this.#start) return "resumable";
		if (revision < this.#last) return "ordered";
		return revision === this.#last ? "unique" : "filtered";
	}

	#mismatch({ event }: Expected, revision: Revision): PromiseName {
		if (revision === event.revision) return "atomic";
		if (revision <= this.#last) return this.#surplus(revision);
		if (revision < event.revision) return "filtered";
		return this.#told === 0 ? "resumable" : "reliable";
	}

	#broke(promise: PromiseName, detail: string): void {
		this.isBroken = true;
		this.#verdict.broke(promise, `${this.#name}: ${detail}`);
	}
}

function describe({ type, object }: Expected): string {
	return `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`;
}
