/** From responses of a watch, which may be cut anywhere, to whole revisions. */
import type { Revision } from "../entry.ts";

interface Revised {
	readonly revision: Revision;
}

export interface WholeRevision<E extends Revised> {
	readonly revision: Revision;
	/** In the order in which they were done. */
	readonly events: readonly E[];
}

/**
 * etcd never parts a revision over two responses, but a response that is large comes in fragments, and those may be
 * cut inside of one. So nothing is given out before the last fragment is there.
 */
export class RevisionAssembler<E extends Revised> {
	#events: E[] = [];

	/** The revisions that are whole now, oldest first. @param isFragment More of the same response follows. */
	add(events: readonly E[], isFragment: boolean): readonly WholeRevision<E>[] {
		for (const event of events) this.#events.push(event);
		if (isFragment) return [];
		const all = this.#events;
		this.#events = [];
		const whole: { revision: Revision; events: E[] }[] = [];
		for (const event of all) {
			const last = whole.at(-1);
			if (last?.revision === event.revision) last.events.push(event);
			else whole.push({ revision: event.revision, events: [event] });
		}
		return whole;
	}
}
