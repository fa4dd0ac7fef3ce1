/** One session of a watcher: a watch that is open, over HTTP or in process, and what it has told so far. */

import { hasReason } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Revision } from "../../store/entry.ts";
import type { TestServer } from "../test-server.ts";
import type { TestWatch } from "../test-watch.ts";
import { checkContents } from "./check-contents.ts";
import type { ClusterModel } from "./cluster-model.ts";
import type { Verdict } from "./verdict.ts";
import { WatchChecker } from "./watch-checker.ts";
import { pathOf, textOf, type WatchSelection } from "./watch-selection.ts";

export interface WatchPorts {
	readonly server: TestServer;
	readonly model: ClusterModel;
	readonly verdict: Verdict;
	/** Every event that a session tells. */
	told(text: string): void;
}

export interface WatchSession {
	readonly isOver: boolean;
	/** What to resume from. */
	readonly last: Revision;
	/** Looks at what has come in. */
	read(): void;
	/** Called at rest: everything must have come in. */
	complete(): void;
	close(): Promise<void>;
}

interface FrameEvent {
	readonly type: string;
	/** Of an ERROR a Status, which has a code. */
	readonly object: KubeObject & { readonly code?: number };
}

interface About {
	readonly name: string;
	readonly selection: WatchSelection;
	readonly start: Revision;
}

export class InProcessSession implements WatchSession {
	isOver = false;
	readonly #checker: WatchChecker;
	readonly #stop = new AbortController();
	readonly #reading: Promise<void>;

	constructor(ports: WatchPorts, about: About) {
		this.#checker = new WatchChecker(about, ports.model, ports.verdict);
		this.#reading = this.#follow(ports, about).finally(() => {
			this.isOver = true;
		});
	}

	get last(): Revision {
		return this.#checker.last;
	}

	read(): void {
		// Events are looked at as they come.
	}

	complete(): void {
		if (this.isOver) return;
		this.#checker.accepted();
		this.#checker.complete();
	}

	close(): Promise<void> {
		this.#stop.abort();
		return this.#reading;
	}

	async #follow({ server, told }: WatchPorts, { name, selection, start }: About): Promise<void> {
		const { type, matches: _, ...selectors } = selection;
		const options = { ...selectors, resourceVersion: String(start), signal: this.#stop.signal };
		const { namespace, ...others } = options;
		try {
			const watch = server.client.watch(type, namespace === "" ? others : { namespace, ...others });
			for await (const batch of watch) {
				this.#checker.accepted();
				for (const event of batch) {
					if (event.type === "BOOKMARK") this.#checker.bookmark(Number(event.resourceVersion));
					else this.#checker.saw(event.type, event.object);
					told(`${name} ${event.type === "BOOKMARK" ? event.resourceVersion : describe(event.type, event.object)}`);
				}
			}
		} catch (error) {
			if (hasReason(error, "Expired")) this.#checker.expired();
			else this.#checker.ended(String(error));
		}
	}
}

export class HttpSession implements WatchSession {
	readonly #ports: WatchPorts;
	readonly #about: Omit<About, "start">;
	readonly #watch: TestWatch;
	/** undefined until the initial events have been told. */
	#checker: WatchChecker | undefined;
	readonly #initial = new Map<string, KubeObject>();
	#read = 0;
	#isBlocked = false;

	private constructor(ports: WatchPorts, about: About, watch: TestWatch, hasInitial: boolean) {
		this.#ports = ports;
		this.#about = about;
		this.#watch = watch;
		if (!hasInitial) this.#checker = new WatchChecker(about, ports.model, ports.verdict);
		this.read();
	}

	/** @param timeoutSeconds Bookmarks come every minute and 2 seconds before the end. */
	static async open(
		ports: WatchPorts,
		about: Omit<About, "start"> & { readonly start: Revision | undefined; readonly timeoutSeconds: number },
	): Promise<HttpSession> {
		const { start, timeoutSeconds, selection } = about;
		const from =
			start === undefined ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan" : `resourceVersion=${start}`;
		const query = `&watch=true&allowWatchBookmarks=true&timeoutSeconds=${timeoutSeconds}&${from}`;
		const watch = await ports.server.watch(`${pathOf(selection)}${query}`);
		return new HttpSession(ports, { ...about, start: start ?? 0 }, watch, start === undefined);
	}

	get isOver(): boolean {
		return this.#watch.isEnded;
	}

	get last(): Revision {
		return this.#checker?.last ?? this.#ports.model.revision;
	}

	/** The socket takes nothing, or takes data again. */
	toggle(): void {
		this.#isBlocked = !this.#isBlocked;
		if (this.#isBlocked) this.#watch.block();
		else this.#watch.drain();
	}

	read(): void {
		for (; this.#read < this.#watch.frames.length; this.#read++) {
			this.#see(eventOf(this.#watch.frames[this.#read] as Uint8Array));
		}
	}

	complete(): void {
		if (this.#isBlocked) this.toggle();
		this.read();
		if (this.isOver) return;
		this.#checker?.accepted();
		this.#checker?.complete();
	}

	close(): Promise<void> {
		this.read();
		this.#watch.close();
		return Promise.resolve();
	}

	#see({ type, object }: FrameEvent): void {
		const { name } = this.#about;
		const { resourceVersion = "" } = object.metadata;
		this.#ports.told(`${name} ${type} ${object.metadata.name}@${resourceVersion}`);
		if (type === "ERROR") {
			this.#seeError(object);
			return;
		}
		this.#checker?.accepted();
		if (this.#checker === undefined) this.#seeInitial(type, object);
		else if (type === "BOOKMARK") this.#checker.bookmark(Number(resourceVersion));
		else this.#checker.saw(type, object);
	}

	#seeError(object: FrameEvent["object"]): void {
		if (object.code === 410) this.#checker?.expired();
		else this.#checker?.ended(JSON.stringify(object));
	}

	/** Everything that is selected comes first, and then a bookmark says as of when that was. */
	#seeInitial(type: string, object: KubeObject): void {
		const { name, namespace, resourceVersion } = object.metadata;
		if (type !== "BOOKMARK") {
			this.#initial.set(namespace === undefined ? name : `${namespace}/${name}`, object);
			return;
		}
		const { model, verdict } = this.#ports;
		const { selection } = this.#about;
		const revision = Number(resourceVersion);
		checkContents(
			{ what: `initial events of ${textOf(selection)}`, selection, revision },
			this.#initial,
			model,
			verdict,
		);
		this.#checker = new WatchChecker({ ...this.#about, start: revision }, model, verdict);
	}
}

/** Watchers of a group get the same bytes: they are read once. */
const events = new WeakMap<Uint8Array, FrameEvent>();

function eventOf(frame: Uint8Array): FrameEvent {
	const known = events.get(frame);
	if (known !== undefined) return known;
	const event: FrameEvent = JSON.parse(new TextDecoder().decode(frame));
	events.set(frame, event);
	return event;
}

function describe(type: string, { metadata }: KubeObject): string {
	return `${type} ${metadata.name}@${metadata.resourceVersion}`;
}
