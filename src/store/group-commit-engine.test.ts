import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import type { Precondition, Write } from "./entry.ts";
import type { CommitLog, LoggedCommit } from "./group-commit-engine.ts";
import { loggedStore, type Store } from "./store.ts";
import { View } from "./view.ts";

const SPACE = "/registry/pods/";

function put(key: string): Write {
	const object: KubeObject = {
		apiVersion: "v1",
		kind: "Pod",
		metadata: { name: key, uid: "u", resourceVersion: "", creationTimestamp: "" },
	};
	return { kind: "put", space: SPACE, key, object };
}

const at = (key: string, expected: number): Precondition => ({ space: SPACE, key, expected });

/** A log whose groups are durable, or fail, when the test says so. */
class HeldLog implements CommitLog {
	readonly groups: (readonly LoggedCommit[])[] = [];
	readonly #ends: { resolve(): void; reject(error: Error): void }[] = [];

	write(commits: readonly LoggedCommit[]): Promise<void> {
		this.groups.push(commits);
		return new Promise((resolve, reject) => this.#ends.push({ resolve, reject }));
	}

	async end(error?: Error): Promise<void> {
		const end = this.#ends.shift();
		if (error === undefined) end?.resolve();
		else end?.reject(error);
		for (let turn = 0; turn < 10; turn++) await Promise.resolve();
	}
}

function started(): { readonly log: HeldLog; readonly store: Store } {
	const log = new HeldLog();
	return { log, store: loggedStore(new View(10), log) };
}

describe("GroupCommitEngine", () => {
	test("shows nothing, and answers nothing, before it is durable", async () => {
		const { log, store } = started();
		let isAnswered = false;
		void store.commit([put("a")]).then(() => {
			isAnswered = true;
		});
		await Promise.resolve();
		expect(store.revision).toBe(10);
		expect(store.space(SPACE).get("a")).toBeUndefined();
		expect(isAnswered).toBe(false);
		await log.end();
		expect(store.space(SPACE).get("a")?.modRevision).toBe(11);
		expect(isAnswered).toBe(true);
	});

	test("makes one group of all that came while another was written", async () => {
		const { log, store } = started();
		const commits = ["a", "b", "c"].map((key) => store.commit([put(key)]));
		expect(log.groups.map((group) => group.length)).toEqual([1]);
		await log.end();
		expect(log.groups.map((group) => group.length)).toEqual([1, 2]);
		await log.end();
		expect((await Promise.all(commits)).map((result) => result.kind === "committed" && result.revision)).toEqual([
			11, 12, 13,
		]);
	});

	test("looks at preconditions in the order of the group, and answers a conflict when it is certain", async () => {
		const { log, store } = started();
		void store.commit([put("first")]);
		const won = store.commit([put("a")], [at("a", 0)]);
		const lost = store.commit([put("a")], [at("a", 0)]);
		const next = store.commit([put("a")], [at("a", 12)]);
		await log.end();
		await log.end();
		expect([(await won).kind, (await lost).kind, (await next).kind]).toEqual(["committed", "conflict", "committed"]);
		expect(store.space(SPACE).get("a")?.modRevision).toBe(13);
	});

	test("fails a group that cannot be written as a whole, and goes on as if it had never been", async () => {
		const { log, store } = started();
		const failed = store.commit([put("a")], [at("a", 0)]);
		const after = store.commit([put("a")], [at("a", 0)]);
		const refusal = expect(failed).rejects.toThrow("disk full");
		await log.end(new Error("disk full"));
		await refusal;
		expect(store.revision).toBe(10);
		await log.end();
		expect(await after).toMatchObject({ kind: "committed", revision: 11 });
		expect(log.groups.map((group) => group.map(({ revision }) => revision))).toEqual([[11], [11]]);
	});

	test("writes nothing for a group of conflicts alone", async () => {
		const { log, store } = started();
		expect((await store.commit([put("a")], [at("a", 5)])).kind).toBe("conflict");
		expect(log.groups).toEqual([]);
	});
});
