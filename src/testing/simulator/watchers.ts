/** Independent watchers, whose watches are cut and resumed at random. */
import type { Revision } from "../../store/entry.ts";
import type { Dice } from "./dice.ts";
import { randomSelection, type WatchSelection } from "./watch-selection.ts";
import { HttpSession, InProcessSession, type WatchPorts, type WatchSession } from "./watch-session.ts";

interface SimulatedWatcher {
	readonly name: string;
	readonly isHttp: boolean;
	selection: WatchSelection;
	session: WatchSession;
}

/** Of each form. */
const WATCHERS = 4;
/** With 5 seconds a bookmark comes after 3. */
const TIMEOUTS_SECONDS = [5, 5, 30, 600];

export class Watchers {
	readonly #ports: WatchPorts;
	readonly #dice: Dice;
	readonly #namespaces: readonly string[];
	readonly #watchers: SimulatedWatcher[] = [];

	constructor(ports: WatchPorts, dice: Dice, namespaces: readonly string[]) {
		this.#ports = ports;
		this.#dice = dice;
		this.#namespaces = namespaces;
	}

	async start(): Promise<void> {
		for (let n = 0; n < WATCHERS * 2; n++) {
			const isHttp = n % 2 === 0;
			const name = `${isHttp ? "http" : "local"}-${n}`;
			const selection = randomSelection(this.#dice, this.#namespaces);
			const session = await this.#opened(name, isHttp, selection, this.#ports.model.revision);
			this.#watchers.push({ name, isHttp, selection, session });
		}
	}

	/** One of them does something, or something is done to it. */
	async step(): Promise<void> {
		const watcher = this.#dice.of(this.#watchers);
		const { session } = watcher;
		session.read();
		if (!session.isOver && session instanceof HttpSession && this.#dice.chance(0.3)) return session.toggle();
		const { last } = session;
		await session.close();
		if (this.#dice.chance(0.2)) await this.#replace(watcher);
		else watcher.session = await this.#opened(watcher.name, watcher.isHttp, watcher.selection, this.#resumeAt(last));
	}

	/** Reads what has come, so that what is behind can be told from what is missing. */
	read(): void {
		for (const { session } of this.#watchers) session.read();
	}

	/** Every connection breaks, and everyone goes on from where it was. */
	async breakAll(): Promise<void> {
		for (const watcher of this.#watchers) {
			const { last } = watcher.session;
			await watcher.session.close();
			watcher.session = await this.#opened(watcher.name, watcher.isHttp, watcher.selection, last);
		}
	}

	/** At rest: whoever's socket was full takes what there is. */
	drain(): void {
		for (const { session } of this.#watchers) session.complete();
	}

	async stop(): Promise<void> {
		for (const { session } of this.#watchers) await session.close();
	}

	async #replace(watcher: SimulatedWatcher): Promise<void> {
		watcher.selection = randomSelection(this.#dice, this.#namespaces);
		const isFromState = watcher.isHttp && this.#dice.chance(0.6);
		const start = isFromState ? undefined : this.#ports.model.revision;
		watcher.session = await this.#opened(watcher.name, watcher.isHttp, watcher.selection, start);
	}

	/** Mostly where the session before has ended, else anywhere in the past, also in the part that is gone. */
	#resumeAt(last: Revision): Revision {
		const { revision, compacted } = this.#ports.model;
		const roll = this.#dice.below(10);
		if (roll < 6) return last;
		const oldest = Math.max(compacted, revision - 300);
		if (roll < 9) return oldest + this.#dice.below(revision - oldest + 1);
		return compacted - this.#dice.below(3);
	}

	#opened(
		name: string,
		isHttp: boolean,
		selection: WatchSelection,
		start: Revision | undefined,
	): Promise<WatchSession> {
		const { model } = this.#ports;
		if (!isHttp) {
			const session = new InProcessSession(this.#ports, { name, selection, start: start ?? model.revision });
			return Promise.resolve(session);
		}
		const timeoutSeconds = this.#dice.of(TIMEOUTS_SECONDS);
		return HttpSession.open(this.#ports, { name, selection, start, timeoutSeconds });
	}
}
