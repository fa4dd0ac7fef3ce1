/** What each place held when, by the log of all commits. */
import type { Revision } from "../../store/entry.ts";
import type { LoggedChanges, StoreHistory } from "./operation.ts";

export interface PlaceState {
	/** Of the commit that wrote it; 0: nothing is there. */
	readonly revision: Revision;
	readonly value?: string | undefined;
}

interface Since extends PlaceState {
	readonly since: Revision;
}

const NOTHING: Since = { since: 0, revision: 0 };

export class PlaceStates {
	readonly #states = new Map<string, Since[]>();

	constructor(log: readonly LoggedChanges[], before: NonNullable<StoreHistory["before"]>) {
		for (const [place, state] of before) this.#states.set(place, [{ since: 0, ...state }]);
		for (const { revision, changes } of log) {
			for (const { place, value } of changes) {
				const states = this.#states.get(place) ?? [];
				states.push(value === undefined ? { since: revision, revision: 0 } : { since: revision, revision, value });
				this.#states.set(place, states);
			}
		}
	}

	at(place: string, revision: Revision): PlaceState {
		return this.#statesOf(place).findLast(({ since }) => since <= revision) ?? NOTHING;
	}

	/** What a commit of this revision found. */
	before(place: string, revision: Revision): PlaceState {
		return this.at(place, revision - 1);
	}

	/** Every state from that of `first` to that of `last`, both included. */
	between(place: string, first: Revision, last: Revision): readonly PlaceState[] {
		const states = this.#statesOf(place).filter(({ since }) => since > first && since <= last);
		return [this.at(place, first), ...states];
	}

	#statesOf(place: string): readonly Since[] {
		return this.#states.get(place) ?? [];
	}
}
