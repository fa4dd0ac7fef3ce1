import { expect, test } from "vitest";
import { type FoundClaim, judgeClaims, placeText, ROUNDS_UNTIL_RELEASE, type Suspect } from "./orphaned-claims.ts";

const claim = (key: string, modRevision = 7): FoundClaim => ({ space: "/registry/ipaddresses/", key, modRevision });

/** What each round releases. */
function rounds(seen: readonly { readonly claims: readonly FoundClaim[]; readonly held?: readonly FoundClaim[] }[]) {
	let suspects: ReadonlyMap<string, Suspect> = new Map();
	return seen.map(({ claims, held = [] }) => {
		const verdict = judgeClaims(claims, new Set(held.map(placeText)), suspects);
		suspects = verdict.suspects;
		return verdict.released.map(({ key }) => key);
	});
}

test("a claim without an owner is released in the last of several rounds, and tried again until it is gone", () => {
	const claims = [claim("a")];
	const seen = Array.from({ length: ROUNDS_UNTIL_RELEASE + 1 }, () => ({ claims }));
	expect(rounds(seen)).toEqual([[], [], ["a"], ["a"]]);
});

test("one that found an owner, was gone, or was written between, begins anew", () => {
	const claims = [claim("a")];
	for (const between of [{ claims, held: claims }, { claims: [] }, { claims: [claim("a", 8)] }]) {
		const rest = between.claims[0]?.modRevision === 8 ? [between.claims[0]] : claims;
		const seen = [{ claims }, { claims }, between, { claims: rest }];
		expect(rounds(seen)).toEqual([[], [], [], []]);
	}
});

test("what a Service holds is never released", () => {
	const claims = [claim("a"), claim("b")];
	const seen = Array.from({ length: 5 }, () => ({ claims, held: [claim("a", 1)] }));
	expect(rounds(seen).flat()).toEqual(["b", "b", "b"]);
});
