/** Every write and watch event of a run, with its virtual time: one line each, the same in every run. */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Clock } from "../../kernel/clock.ts";

/** Entries kept; a run that makes more of them loses the oldest. */
const ENTRIES_MAX = 100_000;

interface Entry {
	readonly atMs: number;
	readonly text: string;
	/** Frozen, so that it can be put into words when somebody asks. */
	readonly object?: KubeObject;
}

export class Trace {
	readonly #clock: Clock;
	readonly #entries: Entry[] = [];
	#dropped = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	did(step: string): void {
		this.#add(`step ${step}`);
	}

	/** @param who `runner`, or a component. @param what Path or key of the object. @param outcome A version, or an error. */
	wrote(who: string, verb: string, what: string, outcome: string): void {
		this.#add(`${who} ${verb} ${what}: ${outcome}`);
	}

	saw(who: string, type: string, plural: string, object: KubeObject): void {
		const { namespace, name, resourceVersion } = object.metadata;
		const key = namespace === undefined ? name : `${namespace}/${name}`;
		this.#add(`${who} saw ${type} ${plural} ${key} @${resourceVersion}`, object);
	}

	/** With whole objects. */
	lines(): readonly string[] {
		return this.#shown(({ object }) => (object === undefined ? "" : ` ${JSON.stringify(object)}`));
	}

	/** Without the objects: what happened, for people. */
	history(): readonly string[] {
		return this.#shown(() => "");
	}

	#shown(more: (entry: Entry) => string): readonly string[] {
		const lines = this.#entries.map((entry) => `+${(entry.atMs / 1000).toFixed(3)}s ${entry.text}${more(entry)}`);
		return this.#dropped === 0 ? lines : [`... ${this.#dropped} earlier lines`, ...lines];
	}

	#add(text: string, object?: KubeObject): void {
		this.#entries.push({ atMs: this.#clock.monotonicMs(), text, ...(object === undefined ? {} : { object }) });
		if (this.#entries.length <= ENTRIES_MAX) return;
		this.#entries.shift();
		this.#dropped++;
	}
}
