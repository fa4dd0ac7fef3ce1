/** Every write and watch event of a run, with its virtual time: one line each, the same in every run. */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Clock } from "../../kernel/clock.ts";

/** Lines kept; a run that makes more of them loses the oldest. */
const LINES_MAX = 100_000;

export class Trace {
	readonly #clock: Clock;
	readonly #lines: string[] = [];
	#dropped = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** @param who `runner`, or a component. */
	wrote(who: string, verb: string, plural: string, key: string, outcome: string): void {
		this.#add(`${who} ${verb} ${plural} ${key}: ${outcome}`);
	}

	saw(who: string, type: string, plural: string, object: KubeObject): void {
		const { namespace, name, resourceVersion } = object.metadata;
		const key = namespace === undefined ? name : `${namespace}/${name}`;
		this.#add(`${who} saw ${type} ${plural} ${key} @${resourceVersion} ${JSON.stringify(object)}`);
	}

	did(step: string): void {
		this.#add(`step ${step}`);
	}

	get lines(): readonly string[] {
		return this.#dropped === 0 ? this.#lines : [`... ${this.#dropped} earlier lines`, ...this.#lines];
	}

	#add(line: string): void {
		const at = (this.#clock.monotonicMs() / 1000).toFixed(3);
		this.#lines.push(`+${at}s ${line}`);
		if (this.#lines.length <= LINES_MAX) return;
		this.#lines.shift();
		this.#dropped++;
	}
}
