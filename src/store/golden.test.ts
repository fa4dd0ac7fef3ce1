/** The store's behaviour as texts: testdata/store. */
import { describe, expect, test } from "vitest";
import { goldenFiles, replayed } from "../testing/golden.ts";
import type { Precondition, Write } from "./entry.ts";
import { memoryStore, type Store } from "./store.ts";

const SPACE = "/registry/things/";

function write(text: string): Write {
	const [verb, key = "", mark = ""] = text.trim().split(" ");
	if (verb === "delete") return { kind: "delete", space: SPACE, key };
	const metadata = { name: key, uid: "", resourceVersion: "", creationTimestamp: "", labels: { mark } };
	return { kind: "put", space: SPACE, key, object: { apiVersion: "v1", kind: "Thing", metadata } };
}

function precondition(text: string): Precondition {
	const [key = "", expected] = text.trim().split("=");
	return { space: SPACE, key, expected: Number(expected) };
}

async function commit(store: Store, command: string): Promise<string> {
	const [writes = "", ...conditions] = command.split(" if ");
	const result = await store.commit(writes.split(" + ").map(write), conditions.map(precondition));
	if (result.kind === "committed") return `r${result.revision}`;
	return `conflict: ${result.place.key} is at ${result.actual === undefined ? "nothing" : `r${result.actual.modRevision}`}`;
}

function list(store: Store, words: readonly string[]): string {
	const given = new Map(words.map((word) => word.split("=") as [string, string]));
	const [limit, at, start] = [given.get("limit"), given.get("at"), given.get("start")];
	const result = store.space(SPACE).range({
		prefix: "",
		...(limit === undefined ? {} : { limit: Number(limit) }),
		...(at === undefined ? {} : { revision: Number(at) }),
		...(start === undefined ? {} : { start }),
	});
	if (result.kind === "compacted") return `compacted, oldest is r${result.oldest}`;
	const entries = result.entries.map(({ key, object }) => `${key}=${object.metadata.labels?.["mark"]}`);
	return [...entries, ...(result.remaining > 0 ? [`and ${result.remaining} more`] : [])].join("\n");
}

function watch(store: Store, after: string): string {
	const batch = store.space(SPACE).readAfter(Number(after.replace("after=", "")), 100, store.revision);
	if (batch.kind === "compacted") return `compacted, oldest is r${batch.oldest}`;
	const events = batch.events.map(
		({ kind, revision, current }) => `r${revision} ${kind} ${current.key}=${current.object.metadata.labels?.["mark"]}`,
	);
	return [...events, `through r${batch.through}`].join("\n");
}

async function run(store: Store, command: string): Promise<string> {
	const [verb, ...words] = command.split(" ");
	switch (verb) {
		case "list":
			return list(store, words);
		case "watch":
			return watch(store, words[0] ?? "");
		case "compact":
			store.view.compact(Number(words[0]));
			return "ok";
		default:
			return commit(store, command);
	}
}

describe("the store", () => {
	test.each(goldenFiles("testdata/store"))("does what $name says", async (golden) => {
		const store = memoryStore(0);
		await expect(await replayed(golden.text, (command) => run(store, command))).toMatchFileSnapshot(golden.file);
	});
});
