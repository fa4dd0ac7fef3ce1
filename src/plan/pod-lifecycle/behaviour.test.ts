import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/types/core.ts";
import { pod } from "../../testing/builders.ts";
import { type Behaviour, behaviourOf, parseDurationMs } from "./behaviour.ts";

function annotated(annotations: Readonly<Record<string, string>>, spec: Partial<Pod["spec"]> = {}): Behaviour {
	const entries = Object.entries(annotations).map(([name, text]) => [`sliceplane.dev/${name}`, text]);
	return behaviourOf(pod("p", { metadata: { annotations: Object.fromEntries(entries) }, spec }));
}

function running(container: Partial<Container>): Behaviour {
	return annotated({}, { containers: [{ name: "c", ...container }] });
}

describe("behaviourOf", () => {
	test("takes the defaults for a Pod that says nothing", () => {
		expect(annotated({})).toEqual({
			startupMs: 100,
			readyAfterMs: 0,
			unreadyAfterMs: undefined,
			stopMs: 1_000,
			exitCode: 0,
			exitAfterMs: undefined,
			problems: [],
		});
	});

	test("takes each annotation", () => {
		const annotations = {
			"startup-time": "2s",
			"ready-after": "5s",
			"unready-after": "1s",
			"stop-time": "10s",
			"exit-code": "3",
		};
		expect(annotated(annotations)).toMatchObject({
			startupMs: 2_000,
			readyAfterMs: 5_000,
			unreadyAfterMs: 1_000,
			stopMs: 10_000,
			exitCode: 3,
			problems: [],
		});
	});

	test("is never Ready when told so", () => {
		expect(annotated({ "never-ready": "true", "ready-after": "1s" }).readyAfterMs).toBeUndefined();
		expect(annotated({ "never-ready": "false" }).readyAfterMs).toBe(0);
	});

	test("waits for the slowest readiness probe, unless told otherwise", () => {
		const containers = [2, 7, 0].map((initialDelaySeconds, index) => ({
			name: `c${index}`,
			readinessProbe: { initialDelaySeconds },
		}));
		expect(annotated({}, { containers }).readyAfterMs).toBe(7_000);
		expect(annotated({ "ready-after": "300ms" }, { containers }).readyAfterMs).toBe(300);
		expect(running({ readinessProbe: {} }).readyAfterMs).toBe(0);
	});

	test.each([
		["Never", "0", 30_000],
		["Never", "1", 30_000],
		["OnFailure", "0", 30_000],
		["OnFailure", "1", undefined],
		["Always", "0", undefined],
	] as const)("with restart policy %s and exit code %s ends by itself after %s", (restartPolicy, code, expected) => {
		expect(annotated({ "exit-after": "30s", "exit-code": code }, { restartPolicy }).exitAfterMs).toBe(expected);
	});

	test.each([
		["the command is sleep", { command: ["sleep", "3600"] }, true],
		["the command is sleep by its path", { command: ["/bin/sleep", "infinity"] }, true],
		["the arguments alone are sleep", { args: ["sleep", "1d"] }, true],
		["a command with sleep as an argument", { command: ["timeout"], args: ["sleep", "9"] }, false],
		["a shell that sleeps", { command: ["sh", "-c", "sleep 9"] }, false],
		["a command that only ends in sleep", { command: ["/bin/nosleep"] }, false],
		["nothing", {}, false],
	])("SIGTERM and %s: ignored %s", (_, container, isIgnored) => {
		expect(running(container).stopMs).toBe(isIgnored ? undefined : 1_000);
	});

	test("lets one container that ignores SIGTERM hold the whole Pod, and an annotation overrule it", () => {
		const containers = [{ name: "a" }, { name: "b", command: ["sleep", "9"] }];
		expect(annotated({}, { containers }).stopMs).toBeUndefined();
		expect(annotated({ "stop-time": "2s" }, { containers }).stopMs).toBe(2_000);
	});

	test.each([
		["stop-time", "soon", 'want a duration such as "300ms" or "1m30s"'],
		["ready-after", "-1s", 'want a duration such as "300ms" or "1m30s"'],
		["startup-time", "5", 'want a duration such as "300ms" or "1m30s"'],
		["unready-after", "25h", 'want a duration such as "300ms" or "1m30s"'],
		["exit-code", "256", "want a number from 0 to 255"],
		["exit-code", "x", "want a number from 0 to 255"],
	])("says what is wrong with %s: %s, and takes the default", (name, text, want) => {
		const { problems, ...behaviour } = annotated({ [name]: text });
		expect(problems).toEqual([`annotation sliceplane.dev/${name}: "${text}": ${want}`]);
		expect(behaviour).toEqual({ ...annotated({}), problems: undefined });
	});
});

describe("parseDurationMs", () => {
	test.each([
		["300ms", 300],
		["1.5s", 1_500],
		["1m30s", 90_000],
		["24h", 86_400_000],
		["0", 0],
		["0s", 0],
		["24h1ms", undefined],
		["1", undefined],
		["", undefined],
		["s", undefined],
		["1d", undefined],
		["1s ", undefined],
	])("reads %j as %s", (text, expected) => {
		expect(parseDurationMs(text)).toBe(expected);
	});
});
