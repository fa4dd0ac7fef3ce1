import { describe, expect, test } from "vitest";
import { type ProbeKind, type ProbeSpec, probesOf } from "./probe-spec.ts";
import { afterOutcome, asksForRestart, initialProbeState } from "./probe-state.ts";

function spec(kind: ProbeKind, thresholds: { successThreshold?: number; failureThreshold?: number }): ProbeSpec {
	const [found] = probesOf({ name: "c", [`${kind}Probe`]: { tcpSocket: { port: 80 }, ...thresholds } });
	if (found === undefined) throw new Error("no probe");
	return found;
}

describe("a probe's result", () => {
	/** Outcomes: `+` success, `-` failure. Results: `T`, `F`, and `?` for none yet. */
	test.each<{ rule: string; kind: ProbeKind; success?: number; failure?: number; outcomes: string; results: string }>([
		{ rule: "readiness begins with failure", kind: "readiness", outcomes: "+", results: "FT" },
		{ rule: "liveness begins with success", kind: "liveness", failure: 1, outcomes: "-", results: "TF" },
		{ rule: "startup begins with nothing", kind: "startup", outcomes: "--+", results: "???T" },
		{ rule: "failures count in a row", kind: "readiness", failure: 3, outcomes: "+--+---", results: "FTTTTTTF" },
		{ rule: "three failures are the default", kind: "liveness", outcomes: "---", results: "TTTF" },
		{ rule: "so do successes", kind: "readiness", success: 2, outcomes: "+-++", results: "FFFFT" },
		{ rule: "one success is the default", kind: "readiness", failure: 1, outcomes: "+-+", results: "FTFT" },
		{ rule: "a startup probe fails for good", kind: "startup", failure: 2, outcomes: "--", results: "??F" },
	])("$rule", ({ kind, success = 1, failure = 3, outcomes, results }) => {
		const probe = spec(kind, { successThreshold: success, failureThreshold: failure });
		let state = initialProbeState(kind);
		let seen = "";
		for (const outcome of ["", ...outcomes]) {
			if (outcome !== "") state = afterOutcome(state, probe, outcome === "+");
			seen += state.isPassing === undefined ? "?" : state.isPassing ? "T" : "F";
		}
		expect(seen).toBe(results);
		expect(asksForRestart(kind, state)).toBe(kind !== "readiness" && results.endsWith("F"));
	});
});
