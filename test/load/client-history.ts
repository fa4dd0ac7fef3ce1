/** Clients of an API over HTTP that write ConfigMaps, read and watch them, and write down what they are told. */
import { CONFIG_MAPS } from "../../src/api/resource-names.ts";
import { ApiError, hasReason } from "../../src/api/status.ts";
import type { ConfigMap } from "../../src/api/types/core.ts";
import type { ApiClient } from "../../src/machinery/api-client.ts";
import { checkHistory } from "../../src/testing/history/check-history.ts";
import type {
	BrokenPromise,
	Change,
	CommitOperation,
	LoggedChanges,
	Operation,
	WatchedBatch,
	WatchSession,
} from "../../src/testing/history/operation.ts";
import { eventually } from "../e2e/plane.ts";

const NAMESPACE = "default";
/** Only these are looked at: controllers write ConfigMaps of their own. */
const PREFIX = "w-";

type Event = WatchedBatch["events"][number];

export class ClientHistory {
	/** Commits that somebody was told of. */
	acknowledged = 0;
	/** Events that watchers saw. */
	seen = 0;
	/** What cannot be said in a history. */
	readonly problems: string[] = [];
	/** What servers in trouble said when they ended a watch. */
	readonly excuses: Set<string> = new Set();
	readonly #operations: Operation[] = [];
	readonly #sessions: WatchSession[] = [];
	readonly #log: LoggedChanges[] = [];
	#logged: string | undefined;
	#counted = 0;

	/** The revision of the newest commit in the log. */
	get loggedTo(): number {
		return Number(this.#logged ?? 0);
	}

	/** The log begins here: before anybody writes. */
	async begin(client: ApiClient): Promise<void> {
		this.#logged ??= (await client.list<ConfigMap>(CONFIG_MAPS, { namespace: NAMESPACE })).resourceVersion;
	}

	/** Takes down every commit from where the log ends, until the signal or the end of the server. */
	async follow(client: ApiClient, signal: AbortSignal): Promise<void> {
		try {
			await this.begin(client);
			for await (const { events, through } of batchesAfter(client, this.#logged ?? "", signal)) {
				for (const { revision, ...change } of events) this.#log.push({ revision, changes: [change] });
				this.#logged = String(through);
			}
		} catch (error) {
			this.#unlessGone(error, `a watch from ${this.#logged}`);
		}
	}

	/** Makes objects, and changes each, one after another. */
	async write(name: string, client: ApiClient, signal: AbortSignal): Promise<void> {
		for (let index = 0; !signal.aborted; index++) {
			const place = `${PREFIX}${name}-${index}`;
			const draft = { metadata: { name: place }, data: { at: `${place}.0` } };
			const made = await this.#commit(name, { place, value: draft.data.at }, 0, () =>
				client.create<ConfigMap>(CONFIG_MAPS, NAMESPACE, draft),
			);
			if (made === undefined) return;
			const data = { at: `${place}.1` };
			const changed = await this.#commit(name, { place, value: data.at }, revisionOf(made), () =>
				client.update(CONFIG_MAPS, { ...made, data }),
			);
			if (changed === undefined) return;
		}
	}

	/** Reads everything; what was read of each of `places` is written down, also that it is not there. */
	async read(name: string, client: ApiClient, places: Iterable<string>): Promise<void> {
		const calledAt = this.#count();
		const { items, resourceVersion } = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: NAMESPACE });
		const answeredAt = this.#count();
		const found = new Map(items.map((item) => [item.metadata.name, item]));
		for (const place of places) {
			const item = found.get(place);
			const answer = {
				asOf: Number(resourceVersion),
				modRevision: item === undefined ? 0 : revisionOf(item),
				...(item === undefined ? {} : { value: item.data?.["at"] ?? "" }),
			};
			this.#operations.push({ kind: "read", client: name, calledAt, answeredAt, place, answer });
		}
	}

	/** Lists, and watches from there until the signal, or the end of the server. */
	async watch(name: string, client: ApiClient, signal: AbortSignal): Promise<void> {
		try {
			const { resourceVersion } = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: NAMESPACE });
			const batches: WatchedBatch[] = [];
			this.#sessions.push({ name, prefix: PREFIX, after: Number(resourceVersion), batches });
			for await (const batch of batchesAfter(client, resourceVersion, signal)) {
				batches.push(batch);
				this.seen += batch.events.length;
			}
		} catch (error) {
			this.#unlessGone(error, `the watch of ${name}`);
		}
	}

	/** Resolves when everything up to the revision is in the log. */
	async caughtUp(revision: number): Promise<void> {
		const isThere = (logged: number): boolean => logged >= revision;
		await eventually(() => Promise.resolve(this.loggedTo), isThere, { what: "the watch from before does not go on" });
	}

	/** Every place that somebody asked to be written, by a client whose name begins so. */
	places(client = ""): Set<string> {
		return new Set(
			this.#operations.flatMap((operation) =>
				operation.kind === "commit" && operation.client.startsWith(client)
					? operation.changes.map(({ place }) => place)
					: [],
			),
		);
	}

	broken(): readonly BrokenPromise[] {
		return checkHistory({ log: this.#log, operations: this.#operations, watches: this.#sessions });
	}

	async #commit(
		client: string,
		change: Change,
		expected: number,
		ask: () => Promise<ConfigMap>,
	): Promise<ConfigMap | undefined> {
		const asked = {
			kind: "commit" as const,
			client,
			calledAt: this.#count(),
			changes: [change],
			expected: new Map([[change.place, expected]]),
		};
		try {
			const made = await ask();
			this.acknowledged++;
			const answer = { kind: "committed" as const, revision: revisionOf(made) };
			this.#operations.push({ ...asked, answeredAt: this.#count(), answer });
			return made;
		} catch (error) {
			this.#operations.push({ ...asked, ...this.#refused(error, change.place) });
			return undefined;
		}
	}

	#refused(error: unknown, place: string): Pick<CommitOperation, "answer" | "answeredAt"> {
		const isConflict = hasReason(error, "Conflict") || hasReason(error, "AlreadyExists");
		return isConflict
			? { answeredAt: this.#count(), answer: { kind: "conflict", place } }
			: { answer: { kind: "unknown" } };
	}

	/** A server that was killed ends every watch, and one in trouble may say so; that a watch was wrong may none say. */
	#unlessGone(error: unknown, what: string): void {
		if (!(error instanceof ApiError)) return;
		if (error.code < 500) this.problems.push(`${what}: ${error.message}`);
		else this.excuses.add(error.message);
	}

	#count(): number {
		this.#counted++;
		return this.#counted;
	}
}

/** Of one revision at a time: an object's resourceVersion says which. */
async function* batchesAfter(client: ApiClient, from: string, signal: AbortSignal): AsyncIterable<WatchedBatch> {
	const options = { namespace: NAMESPACE, resourceVersion: from, signal };
	for await (const batch of client.watch<ConfigMap>(CONFIG_MAPS, options)) {
		for (const event of batch) {
			if (event.type === "BOOKMARK") yield { through: Number(event.resourceVersion), events: [] };
			else yield { through: revisionOf(event.object), events: eventsOf(event.type, event.object) };
		}
	}
}

function eventsOf(type: "ADDED" | "MODIFIED" | "DELETED", object: ConfigMap): readonly Event[] {
	const { name } = object.metadata;
	if (!name.startsWith(PREFIX)) return [];
	const revision = revisionOf(object);
	return [type === "DELETED" ? { revision, place: name } : { revision, place: name, value: object.data?.["at"] ?? "" }];
}

function revisionOf({ metadata }: ConfigMap): number {
	return Number(metadata.resourceVersion);
}
