/** Says whether a watch told what the log says it must tell. */
import type { Revision } from "../../store/entry.ts";
import type { BrokenPromise, Change, LoggedChanges, StorePromise, WatchedBatch, WatchSession } from "./operation.ts";

type Event = WatchedBatch["events"][number];

/** At most one: what follows the first says nothing. */
export function checkWatch(session: WatchSession, log: readonly LoggedChanges[]): readonly BrokenPromise[] {
	const { name, prefix, after, batches } = session;
	const expected = log
		.filter(({ revision }) => revision > after)
		.flatMap(({ revision, changes }) => changes.filter(({ place }) => place.startsWith(prefix)).map(eventAt(revision)));
	let [next, last] = [0, after];
	const broke = (promise: StorePromise, detail: string): readonly BrokenPromise[] => [
		{ promise, detail: `${name}, a watch of ${prefix} after ${after}: ${detail}` },
	];
	for (const { through, events } of batches) {
		for (const group of byRevision(events)) {
			const { revision } = group[0] as Event;
			const wanted = eventsOf(expected, next, revision);
			const first = expected[next];
			if (revision <= last)
				return broke(revision === last ? "unique" : "ordered", `told ${shown(group)} after ${last}`);
			if (first === undefined) return broke("durable", `told ${shown(group)}, which is not in the log`);
			if (first.revision < revision) {
				return broke(next === 0 ? "resumable" : "reliable", `told ${shown(group)}, and not r${first.revision} before`);
			}
			if (wanted.length === 0) return broke("durable", `told ${shown(group)}, which is not in the log`);
			if (shown(wanted) !== shown(group)) return broke("atomic", `told ${shown(group)}, want ${shown(wanted)}`);
			next += wanted.length;
			last = revision;
		}
		if (through < last) return broke("bookmarkable", `says that all is told through ${through}, after ${last}`);
		const missing = expected[next];
		if (missing !== undefined && missing.revision <= through) {
			return broke("bookmarkable", `says that all is told through ${through}, and has not told r${missing.revision}`);
		}
		last = through;
	}
	return [];
}

function eventAt(revision: Revision): (change: Change) => Event {
	return (change) => ({ ...change, revision });
}

/** Those of the revision, from a place in the list on. */
function eventsOf(events: readonly Event[], from: number, revision: Revision): readonly Event[] {
	let start = from;
	while ((events[start]?.revision ?? revision) < revision) start++;
	let end = start;
	while (events[end]?.revision === revision) end++;
	return events.slice(start, end);
}

/** Runs of events of one revision, in the order in which they came. */
function byRevision(events: readonly Event[]): readonly (readonly Event[])[] {
	const groups: Event[][] = [];
	for (const event of events) {
		const group = groups.at(-1);
		if (group !== undefined && group[0]?.revision === event.revision) group.push(event);
		else groups.push([event]);
	}
	return groups;
}

function shown(events: readonly Event[]): string {
	return events
		.map(({ revision, place, value }) => `r${revision} ${value === undefined ? `-${place}` : `${place}=${value}`}`)
		.sort()
		.join(" ");
}
