/** An open watch over HTTP: first frames, then whatever commits bring, bookmarks, and a clean end. */
import type { ResourceType } from "../../api/resource.ts";
import { apiVersionOf } from "../../api/resource.ts";
import type { ApiError } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { concatBytes, utf8 } from "../../kernel/bytes.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Random } from "../../kernel/random.ts";
import type { Revision } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";
import type { FrameEncoding } from "../watch/frames.ts";
import type { ObjectEvent } from "../watch/transition.ts";
import type { FrameSink, GroupKey, Watcher, WatchHub } from "../watch/watch-hub.ts";
import type { WatchQuery, WatchStart } from "../watch/watch-query.ts";
import type { EncodedObjects } from "./encoded-objects.ts";
import type { StreamBody } from "./message.ts";
import type { AnswerForm } from "./negotiate.ts";
import { type IncludeObject, partialOf, tableOf } from "./table.ts";

export interface WatchPorts {
	readonly store: Store;
	readonly hub: WatchHub;
	readonly clock: Clock;
	readonly random: Random;
	readonly encoded: EncodedObjects;
}

/** A watch without timeoutSeconds, or with 0, lives for a random time in this range, so that not all end at once. */
const LIFE_SECONDS_MIN = 1800;
const LIFE_SECONDS_MAX = 3600;
const BOOKMARK_EVERY_MS = 60_000;
/** The last bookmark goes out so long before the end. */
const LAST_BOOKMARK_MS = 2_000;

export function watchBody(ports: WatchPorts, key: GroupKey, query: WatchQuery, start: WatchStart): StreamBody {
	return {
		start(sink: FrameSink): { drained(): void; closed(): void } {
			const over = new AbortController();
			const watcher = opened(ports, key, sink, start);
			const close = (): void => {
				over.abort();
				ports.hub.remove(key, watcher);
			};
			void endInTime(ports, watcher, query, over.signal).then((isTimeOver) => {
				if (!isTimeOver) return;
				close();
				sink.end();
			});
			return {
				drained(): void {
					watcher.isBlocked = false;
					ports.hub.serve(watcher);
				},
				closed: close,
			};
		},
	};
}

/** Registers the watcher and writes what goes first: nothing can come between, for no one else runs meanwhile. */
function opened({ store, hub }: WatchPorts, key: GroupKey, sink: FrameSink, start: WatchStart): Watcher {
	const cursor = start.after ?? store.revision;
	const watcher = hub.add(key, sink, cursor);
	if (cursor < store.view.compacted) hub.expire(watcher, store.view.compacted);
	watcher.begin(firstFrames(watcher, key, start));
	return watcher;
}

function* firstFrames({ group, cursor }: Watcher, { encoding }: GroupKey, start: WatchStart): Iterable<Uint8Array> {
	if (start.sendsInitialEvents) yield* group.initialFrames();
	if (start.marksInitialEventsEnd) yield encoding.bookmark(cursor, true);
}

/** Bookmarks while the watch lives. Resolves with true when its time is over, with false when it was closed. */
async function endInTime(
	ports: WatchPorts,
	watcher: Watcher,
	query: WatchQuery,
	signal: AbortSignal,
): Promise<boolean> {
	const { clock, random } = ports;
	const { timeoutSeconds = 0 } = query;
	const spread = LIFE_SECONDS_MAX - LIFE_SECONDS_MIN;
	const seconds = timeoutSeconds > 0 ? timeoutSeconds : LIFE_SECONDS_MIN + random.next() * spread;
	const endMs = clock.monotonicMs() + seconds * 1000;
	try {
		for (;;) {
			const leftMs = endMs - clock.monotonicMs();
			if (leftMs <= LAST_BOOKMARK_MS || !query.allowWatchBookmarks) {
				await clock.sleep(Math.max(0, leftMs), signal);
				return true;
			}
			await clock.sleep(Math.min(BOOKMARK_EVERY_MS, leftMs - LAST_BOOKMARK_MS), signal);
			bookmark(ports, watcher);
		}
	} catch {
		return false;
	}
}

/** Only when every event up to the revision has been sent. */
function bookmark({ hub, store }: WatchPorts, watcher: Watcher): void {
	hub.serve(watcher);
	if (watcher.isBlocked || watcher.isClosed || !watcher.hasBegun() || watcher.cursor < store.revision) return;
	watcher.write(watcher.group.encoding.bookmark(watcher.cursor, false));
}

export interface FormOptions {
	readonly type: ResourceType;
	readonly form: AnswerForm;
	readonly include: IncludeObject;
	readonly encoded: EncodedObjects;
	readonly nowMs: () => number;
}

const MIDDLE = utf8(',"object":');
const END = utf8("}\n");

/** How events of a resource look in one form, and the name of the form. */
export function frameEncoding(options: FormOptions): { readonly form: string; readonly encoding: FrameEncoding } {
	const bytesOf = bytesOfForm(options);
	return {
		form: JSON.stringify([options.form, options.include]),
		encoding: {
			event: ({ type, object }: ObjectEvent) => concatBytes([utf8(`{"type":"${type}"`), MIDDLE, bytesOf(object), END]),
			bookmark: (revision: Revision, isInitialEventsEnd: boolean) =>
				concatBytes([utf8('{"type":"BOOKMARK"'), MIDDLE, bookmarkBytes(options, revision, isInitialEventsEnd), END]),
		},
	};
}

function bytesOfForm({ type, form, include, encoded, nowMs }: FormOptions): (object: KubeObject) => Uint8Array {
	switch (form.kind) {
		case "plain":
			return (object) => encoded.jsonOf(object);
		case "partial":
			return (object) => utf8(JSON.stringify(partialOf(object, form.version)));
		case "table":
			return (object) => {
				const metadata = { resourceVersion: object.metadata.resourceVersion };
				// The columns are repeated in every event: members of a group get the same bytes, whenever they came.
				const table = {
					table: type.table,
					version: form.version,
					include,
					nowMs: nowMs(),
					withColumns: true,
					metadata,
				};
				return utf8(JSON.stringify(tableOf([object], table)));
			};
	}
}

function bookmarkBytes({ type, form, include, nowMs }: FormOptions, revision: Revision, isEnd: boolean): Uint8Array {
	const annotations = isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
	const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
	if (form.kind === "table") {
		const table = { table: type.table, version: form.version, include, nowMs: nowMs(), withColumns: false, metadata };
		return utf8(JSON.stringify(tableOf([], table)));
	}
	const head =
		form.kind === "partial"
			? { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${form.version}` }
			: { kind: type.kind, apiVersion: apiVersionOf(type) };
	return utf8(JSON.stringify({ ...head, metadata }));
}

export function errorFrame(error: ApiError): Uint8Array {
	return utf8(`${JSON.stringify({ type: "ERROR", object: error.status() })}\n`);
}
