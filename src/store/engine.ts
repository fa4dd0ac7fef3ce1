/**
 * An engine is a log: it puts commits in order and makes them durable.
 *
 * What was appended reaches the sink in revision order, each commit once, and before `append` resolves:
 * so whoever waits for a write can read it.
 */
import type { Commit, Place, PlacedEntry, Revision, Write } from "./entry.ts";

export type AppendResult =
	| { readonly kind: "appended"; readonly revision: Revision }
	/** Nothing was there to delete, and a log that others write, too, made no revision of it. */
	| { readonly kind: "unchanged"; readonly revision: Revision }
	/** Nothing was written: this precondition did not hold. */
	| { readonly kind: "conflict"; readonly place: Place };

export type LogSink = (revision: Revision, writes: readonly Write[]) => void;

/** What the log holds at a revision, when commits before it can no longer be sent one by one. */
export type ResetSink = (revision: Revision, state: readonly PlacedEntry[]) => void;

export interface Engine {
	append(commit: Commit): Promise<AppendResult>;
	/**
	 * Sends every commit after `from`, those of the past and those to come. Called once, at start.
	 * @param reset Only for a log that others compact: starts anew from a state.
	 */
	tail(from: Revision, sink: LogSink, reset: ResetSink): void;
	/**
	 * Only for a log that others write, too: resolves when everything that was acknowledged before the call, by whoever
	 * it was, has been sent to the sink.
	 */
	reach?(): Promise<void>;
}

/** The first precondition that does not hold, given the newest revision of each place (0: nothing there). */
export function firstConflict(commit: Commit, revisionAt: (place: Place) => Revision): Place | undefined {
	return commit.preconditions.find((precondition) => revisionAt(precondition) !== precondition.expected);
}
