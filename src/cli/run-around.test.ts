import { expect, test } from "vitest";
import { runAround } from "./run-around.ts";

const around = (script: string, stopping: AbortSignal): Promise<number> =>
	runAround([process.execPath, "-e", script], { kubeconfig: "kubeconfig", stopping });

const STAY = "setTimeout(() => undefined, 60_000);";
test("the status is that of the command", async () => {
	expect(await around("process.exit(7)", new AbortController().signal)).toBe(7);
});

test.each([
	{ signal: "SIGTERM", status: 143 },
	{ signal: "SIGINT", status: 130 },
])("$signal goes to the command, and the status is 128 and the signal's number", async ({ signal, status }) => {
	const stopping = new AbortController();
	const ended = around(STAY, stopping.signal);
	stopping.abort(signal);
	expect(await ended).toBe(status);
});

test("a command that ignores the signal is killed", async () => {
	const stopping = new AbortController();
	process.once("SIGUSR2", () => stopping.abort("SIGTERM"));
	// A shell that ignores the signal hands that on to what it starts, so there is no moment without.
	const ended = runAround(["sh", "-c", "trap '' TERM; kill -USR2 $PPID; exec sleep 60"], {
		kubeconfig: "kubeconfig",
		stopping: stopping.signal,
		killMs: 1,
	});
	expect(await ended).toBe(137);
});

test("a command that a signal came before is not started", async () => {
	expect(await around("process.exit(7)", AbortSignal.abort("SIGTERM"))).toBe(143);
});

test.each([
	{ file: "/no/such/program", status: 127 },
	{ file: process.cwd(), status: 126 },
])("$file cannot be run: $status", async ({ file, status }) => {
	const stopping = new AbortController().signal;
	expect(await runAround([file], { kubeconfig: "kubeconfig", stopping })).toBe(status);
});
