import { describe, expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { pod } from "../testing/builders.ts";
import { TransportError, type WatchEvent } from "./api-client.ts";
import { type ReflectorInput, type ReflectorState, type ReflectorStep, step } from "./reflector.ts";

const watching: ReflectorState = { kind: "watching", resourceVersion: "7", restarts: 0 };
const listing: ReflectorState = { kind: "listing", restarts: 0 };
const added: WatchEvent<unknown> = { type: "ADDED", object: pod("a") };
const bookmark: WatchEvent<unknown> = { type: "BOOKMARK", resourceVersion: "9" };

function shown({ state, effect, request }: ReflectorStep<unknown>): string {
	const at = state.kind === "watching" ? `watching@${state.resourceVersion}` : "listing";
	const doing = effect === undefined ? "" : `, ${effect.kind}@${effect.asOf}`;
	if (request === undefined) return `${at}${doing}`;
	const asks = request.kind === "list" ? `list ${request.freshness}` : `watch@${request.resourceVersion}`;
	return `${at}${doing}, ${asks} +${request.backoff}`;
}

describe("step()", () => {
	const tired: ReflectorState = { kind: "watching", resourceVersion: "7", restarts: 2 };
	test.each<{ when: string; from: ReflectorState; input: ReflectorInput<unknown>; becomes: string }>([
		{
			when: "the list arrives",
			from: listing,
			input: { kind: "listed", items: ["a"], resourceVersion: "7" },
			becomes: "watching@7, replace@7, watch@7 +0",
		},
		{
			when: "objects change",
			from: watching,
			input: { kind: "events", events: [added], resourceVersion: "8" },
			becomes: "watching@8, apply@8",
		},
		{
			when: "only a bookmark arrives",
			from: watching,
			input: { kind: "events", events: [bookmark], resourceVersion: "9" },
			becomes: "watching@9, apply@9",
		},
		{
			when: "the server ends a watch that brought news",
			from: watching,
			input: { kind: "closed" },
			becomes: "watching@7, watch@7 +0",
		},
		{
			when: "the server ends the third watch without news",
			from: tired,
			input: { kind: "closed" },
			becomes: "watching@7, watch@7 +2",
		},
		{
			when: "history was compacted (410)",
			from: watching,
			input: { kind: "failed", error: new ApiError("Expired", "too old") },
			becomes: "listing, list latest +0",
		},
		{
			when: "an event cannot be read",
			from: watching,
			input: { kind: "failed", error: new TransportError("malformed", "no JSON") },
			becomes: "listing, list latest +0",
		},
		{
			when: "the server fails (500)",
			from: tired,
			input: { kind: "failed", error: new ApiError("InternalError", "boom") },
			becomes: "watching@7, watch@7 +2",
		},
		{
			when: "a list fails",
			from: listing,
			input: { kind: "failed", error: new TransportError("unreachable", "refused") },
			becomes: "listing, list latest +0",
		},
	])("when $when", ({ from, input, becomes }) => {
		expect(shown(step(from, input))).toBe(becomes);
	});

	test.each<{ peer: string; answers: readonly ReflectorInput<string>[] }>([
		{
			peer: "lists, then says 410, for ever",
			answers: [
				{ kind: "listed", items: [], resourceVersion: "7" },
				{ kind: "failed", error: new ApiError("Expired", "too old") },
			],
		},
		{ peer: "closes every watch at once", answers: [{ kind: "closed" }] },
	])("a peer that $peer is asked ever more rarely", ({ answers }) => {
		let state: ReflectorState = watching;
		const backoffs: number[] = [];
		for (const answer of [1, 2, 3].flatMap(() => answers)) {
			const next: ReflectorStep<string> = step(state, answer);
			state = next.state;
			if (answer.kind !== "listed") backoffs.push(next.request?.backoff ?? -1);
		}
		expect(backoffs).toEqual([0, 1, 2]);
	});
});
