import { afterEach, describe, expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
import type { Container, Pod } from "../api/types/core.ts";
import type { Clock } from "../kernel/clock.ts";
import { createPod, eventTexts } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";
import type { ContainerExit, ContainerRuntime, ContainerStart, ProbeOutcome, Prober, ProbeTarget } from "./ports.ts";

const planes: TestPlane[] = [];
afterEach(async () => {
	const used = planes.splice(0);
	for (const plane of used) await plane.stop();
	expect(used.flatMap(({ warnings }) => warnings)).toEqual([]);
});

async function started(options: TestPlaneOptions): Promise<TestPlane> {
	const plane = await startTestPlane({ nodes: 1, controllers: ["scheduler"], ...options });
	planes.push(plane);
	return plane;
}

/** `+3100 Ready started x1 running`: each change of the first container, from its start on. */
function changes(log: WatchLog, name = "p"): readonly string[] {
	const texts = log.of<Pod>(PODS, `default/${name}`).flatMap(({ atMs, type, object: { status } }) => {
		const [container] = status?.containerStatuses ?? [];
		if (type === "DELETED") return [`+${atMs} gone`];
		if (container?.containerID === undefined) return [];
		const [state = ""] = Object.keys(container.state ?? {});
		const words = [container.ready && "ready", container.started && "started", `x${container.restartCount}`, state];
		return [`+${atMs} ${words.filter((word) => word !== false).join(" ")}`];
	});
	const isNew = (text: string, index: number): boolean =>
		texts[index - 1]?.replace(/^\S+/, "") !== text.replace(/^\S+/, "");
	return texts.filter(isNew);
}

/** Answers by path and by time; each probe takes as long as it says. */
class ScriptedProber implements Prober {
	readonly asked: string[] = [];
	readonly #clock: () => Clock;
	readonly #answer: (path: string, atMs: number) => ProbeOutcome | "silence";
	readonly #epochMs = Date.parse("2026-01-01T00:00:00Z");

	constructor(clock: () => Clock, answer: (path: string, atMs: number) => ProbeOutcome | "silence") {
		this.#clock = clock;
		this.#answer = answer;
	}

	reachable(): Promise<void> {
		return Promise.resolve();
	}

	async probe({ action }: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
		const path = action.kind === "http" ? action.path : action.kind;
		const atMs = this.#clock().wallMs() - this.#epochMs;
		this.asked.push(`+${atMs} ${path}`);
		const outcome = this.#answer(path, atMs);
		if (outcome !== "silence") return outcome;
		await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
		return { isSuccess: false, message: "timeout" };
	}
}

const OK = { isSuccess: true, message: "" };
const BAD = { isSuccess: false, message: "bad" };

async function probed(
	container: Partial<Container>,
	answer: (path: string, atMs: number) => ProbeOutcome | "silence",
	metadata: Readonly<Record<string, string>> = {},
) {
	const planeOf = (): Clock => plane.clock;
	const prober = new ScriptedProber(planeOf, answer);
	const plane = await started({ prober });
	const log = new WatchLog(plane);
	const annotations = Object.fromEntries(
		Object.entries(metadata).map(([key, text]) => [`sliceplane.dev/${key}`, text]),
	);
	await createPod(plane, "p", { containers: [{ name: "c", image: "x", ...container }] }, { annotations });
	return { plane, log, prober };
}

function http(path: string, more: object = {}): Readonly<Record<string, unknown>> {
	return { httpGet: { path, port: 80 }, periodSeconds: 5, ...more };
}

describe("probes", () => {
	test("make a Pod ready and not ready, at their ticks, by their thresholds", async () => {
		const readinessProbe = http("/r", { initialDelaySeconds: 2, failureThreshold: 2 });
		const { plane, log, prober } = await probed({ readinessProbe }, (_, atMs) => (atMs < 20_000 ? OK : BAD));
		await plane.advance(28_000);
		expect(prober.asked.slice(0, 3)).toEqual(["+2100 /r", "+7100 /r", "+12100 /r"]);
		expect(changes(log)).toEqual([
			"+100 started x0 running",
			"+2100 ready started x0 running",
			"+27100 started x0 running",
		]);
		expect(await eventTexts(plane)).toContain("Warning Unhealthy Readiness probe failed: bad (x2)");
	});

	test("are too late after their timeout, and keep their ticks", async () => {
		const { plane, prober } = await probed({ readinessProbe: http("/r", { timeoutSeconds: 7 }) }, () => "silence");
		await plane.advance(25_000);
		expect(prober.asked).toEqual(["+100 /r", "+10100 /r", "+20100 /r"]);
		expect(await eventTexts(plane)).toContain("Warning Unhealthy Readiness probe failed: timeout (x2)");
	});

	test("wait for the startup probe, which then ends", async () => {
		const container = { startupProbe: http("/s"), readinessProbe: http("/r", { periodSeconds: 60 }) };
		const { plane, log, prober } = await probed(container, (path, atMs) => (path === "/s" && atMs < 10_000 ? BAD : OK));
		await plane.advance(20_000);
		expect(prober.asked).toEqual(["+100 /s", "+5100 /s", "+10100 /s", "+10100 /r"]);
		expect(changes(log)).toEqual(["+100 x0 running", "+10100 ready started x0 running"]);
	});

	test("restart a container that is not alive: at once first, then with back-off", async () => {
		const livenessProbe = http("/l", { failureThreshold: 2 });
		const { plane, log } = await probed({ livenessProbe }, () => BAD, { "exit-code": "9", "stop-time": "2s" });
		await plane.advance(40_000);
		expect(changes(log)).toEqual([
			"+100 ready started x0 running",
			"+12100 ready started x1 running",
			"+24100 x1 waiting",
			"+34100 ready started x2 running",
		]);
		const { metadata } = await plane.client.get(PODS, { namespace: "default", name: "p" });
		expect(plane.logs.lines(metadata.uid, "c", "previous").map(({ text }) => text)).toEqual([
			"started, answers on every port of 10.244.0.2",
			"ended with exit code 9",
		]);
		expect(await eventTexts(plane)).toEqual(
			expect.arrayContaining([
				"Normal Killing Container c failed liveness probe, will be restarted (x2)",
				expect.stringMatching(/^Warning BackOff Back-off restarting failed container c in pod p_default\(.+\)$/),
			]),
		);
	});

	test.each([
		{ which: "in back-off", command: ["serve"], state: "waiting" },
		{ which: "that ignores SIGTERM", command: ["sleep", "9"], state: "running" },
	])("let a container $which go with its Pod, and with its plane", async ({ command, state }) => {
		const livenessProbe = http("/l", { failureThreshold: 1, periodSeconds: 1, terminationGracePeriodSeconds: 900 });
		const { plane } = await probed({ livenessProbe, command }, () => BAD);
		const get = (): Promise<Pod> => plane.client.get(PODS, { namespace: "default", name: "p" });
		await plane.advance(100_000);
		expect(Object.keys((await get()).status?.containerStatuses?.[0]?.state ?? {})).toEqual([state]);
		const { sleepers } = plane.clock;
		await plane.client.delete(PODS, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
		await plane.settle();
		expect(plane.clock.sleepers).toBeLessThan(sleepers);
		await createPod(plane, "p", { containers: [{ name: "c", image: "x", livenessProbe, command }] });
		await plane.advance(100_000);
		await plane.stop();
		expect(plane.clock.sleepers).toBe(0);
	});

	test("kill one that ignores SIGTERM when the probe's own grace is over", async () => {
		const livenessProbe = http("/l", { failureThreshold: 1, terminationGracePeriodSeconds: 3 });
		const { plane } = await probed({ livenessProbe, command: ["sleep", "9"] }, (_, atMs) => (atMs < 6_000 ? BAD : OK));
		await plane.advance(20_000);
		const pod = await plane.client.get(PODS, { namespace: "default", name: "p" });
		expect(pod.status?.containerStatuses?.[0]).toMatchObject({
			restartCount: 1,
			lastState: { terminated: { exitCode: 137, finishedAt: "2026-01-01T00:00:08Z" } },
		});
	});

	test("of a Pod that terminates: readiness goes on, nothing is restarted", async () => {
		const container = {
			livenessProbe: http("/l", { failureThreshold: 1 }),
			readinessProbe: http("/r", { failureThreshold: 1 }),
		};
		const { plane, log } = await probed(container, (_, atMs) => (atMs < 8_000 ? OK : BAD), { "stop-time": "20s" });
		await plane.advance(8_000);
		await plane.client.delete(PODS, { namespace: "default", name: "p" });
		await plane.advance(30_000);
		expect(changes(log)).toEqual([
			"+100 started x0 running",
			"+100 ready started x0 running",
			"+10100 started x0 running",
			"+28000 x0 terminated",
			"+28000 gone",
		]);
	});

	test("and the annotations must both agree that a Pod is ready", async () => {
		const { plane, log } = await probed({ readinessProbe: http("/r") }, () => OK, { "ready-after": "3s" });
		await plane.advance(9_000);
		expect(changes(log)).toEqual(["+100 started x0 running", "+3100 ready started x0 running"]);
	});

	test("of commands succeed where there is no process, and those of a missing port fail", async () => {
		const container = {
			livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 },
			readinessProbe: { tcpSocket: { port: "nowhere" } },
		};
		const { plane, log } = await probed(container, () => OK);
		await plane.advance(9_000);
		expect(changes(log)).toEqual(["+100 started x0 running"]);
		expect(await eventTexts(plane)).toContain(
			'Warning Unhealthy Readiness probe failed: couldn\'t find port: "nowhere"',
		);
	});
});

/** Runs every container with a command; the test says when it ends. */
class FakeRuntime implements ContainerRuntime {
	readonly log: string[] = [];
	readonly starts: ContainerStart[] = [];
	#ends: ((exit: ContainerExit) => void)[] = [];
	readonly onStop: (how: "SIGTERM" | "SIGKILL") => ContainerExit | undefined;

	constructor(onStop: (how: "SIGTERM" | "SIGKILL") => ContainerExit | undefined = () => ({ exitCode: 0 })) {
		this.onStop = onStop;
	}

	runs({ command = [] }: Container): boolean {
		return command.length > 0;
	}

	ports({ ports = [] }: Container): Promise<Record<number, number>> {
		return Promise.resolve(
			Object.fromEntries(ports.map(({ containerPort }) => [containerPort, containerPort + 10_000])),
		);
	}

	start(start: ContainerStart): ReturnType<ContainerRuntime["start"]> {
		this.starts.push(start);
		let end: (exit: ContainerExit) => void = () => undefined;
		const ended = new Promise<ContainerExit>((resolve) => {
			end = resolve;
		});
		this.#ends.push(end);
		return {
			ended,
			stop: (how) => {
				this.log.push(how);
				const exit = this.onStop(how);
				if (exit !== undefined) end(exit);
			},
			exec: (command) => {
				this.log.push(`exec ${command.join(" ")}`);
				return Promise.resolve(OK);
			},
		};
	}

	end(exitCode: number): void {
		for (const end of this.#ends.splice(0)) end({ exitCode });
	}
}

async function running(runtime: FakeRuntime, spec: Partial<Pod["spec"]> = {}, container: Partial<Container> = {}) {
	const plane = await started({ runtime });
	const log = new WatchLog(plane);
	const containers = [{ name: "c", image: "x", command: ["serve"], ...container }];
	await createPod(plane, "p", { containers, ...spec });
	await plane.advance(1_000);
	const get = (): Promise<Pod> => plane.client.get(PODS, { namespace: "default", name: "p" });
	const remove = (): Promise<unknown> => plane.client.delete(PODS, { namespace: "default", name: "p" });
	return { plane, log, get, remove };
}

describe("a container that is a process", () => {
	test("ends when it ends, with its own exit code, and its Pod with it", async () => {
		const runtime = new FakeRuntime();
		const { plane, get } = await running(runtime, { restartPolicy: "Never" });
		await plane.advance(60_000);
		expect((await get()).status?.phase).toBe("Running");
		runtime.end(3);
		await plane.settle();
		const { status } = await get();
		expect([status?.phase, status?.containerStatuses?.[0]?.state?.terminated]).toEqual([
			"Failed",
			expect.objectContaining({ exitCode: 3, reason: "Error", finishedAt: "2026-01-01T00:01:01Z" }),
		]);
	});

	test("is started again by its restart policy, at its old ports, and prints into its log", async () => {
		const runtime = new FakeRuntime();
		const { plane, get } = await running(runtime, { restartPolicy: "OnFailure" }, { ports: [{ containerPort: 80 }] });
		const followed: (string | undefined)[] = [];
		plane.logs.follow((await get()).metadata.uid, "c", (line) => followed.push(line?.text));
		runtime.starts[0]?.output("first");
		runtime.end(1);
		await plane.settle();
		expect(runtime.starts.map(({ ports, podIPs }) => [ports, podIPs])).toEqual(
			Array.from({ length: 2 }, () => [{ 80: 10_080 }, ["10.244.0.2"]]),
		);
		runtime.starts[1]?.output("hello");
		const { metadata, status } = await get();
		expect(status?.containerStatuses?.[0]?.restartCount).toBe(1);
		expect(plane.logs.lines(metadata.uid, "c").map(({ text }) => text)).toEqual(["hello"]);
		expect(plane.logs.lines(metadata.uid, "c", "previous").map(({ text }) => text)).toEqual(["first"]);
		expect(followed).toEqual(["first", undefined]);
		runtime.end(0);
		await plane.settle();
		expect((await get()).status?.phase).toBe("Succeeded");
	});

	test("is told to stop, after its hook, and its Pod goes once it has", async () => {
		const runtime = new FakeRuntime();
		const lifecycle = { preStop: { exec: { command: ["drain", "now"] } } };
		const { plane, log, remove } = await running(runtime, {}, { lifecycle });
		await remove();
		await plane.settle();
		expect(runtime.log).toEqual(["exec drain now", "SIGTERM"]);
		expect(changes(log).slice(1)).toEqual(["+1000 x0 terminated", "+1000 gone"]);
		expect(await eventTexts(plane)).toContain("Normal Killing Stopping container c");
	});

	test("is killed when its grace is over, which its hook is part of", async () => {
		const runtime = new FakeRuntime((how) => (how === "SIGKILL" ? { exitCode: 137 } : undefined));
		const lifecycle = { preStop: { sleep: { seconds: 4 } } };
		const { plane, log, remove } = await running(runtime, { terminationGracePeriodSeconds: 10 }, { lifecycle });
		await remove();
		await plane.advance(3_999);
		expect(runtime.log).toEqual([]);
		await plane.advance(1);
		expect(runtime.log).toEqual(["SIGTERM"]);
		await plane.advance(6_000);
		expect(changes(log).slice(1)).toEqual(["+11000 x0 terminated", "+11000 gone"]);
	});

	test("is killed at once when its Pod is gone by force, and is not started again", async () => {
		const runtime = new FakeRuntime((how) => (how === "SIGKILL" ? { exitCode: 137 } : undefined));
		const { plane } = await running(runtime);
		await plane.client.delete(PODS, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
		await plane.advance(60_000);
		expect([runtime.log, runtime.starts.length]).toEqual([["SIGKILL"], 1]);
	});

	test("lets its Pod run on while another container does", async () => {
		const runtime = new FakeRuntime();
		const containers = [
			{ name: "c", image: "x", command: ["serve"] },
			{ name: "d", image: "x" },
		];
		const { plane, get } = await running(runtime, { restartPolicy: "Never", containers });
		runtime.end(0);
		await plane.advance(1_000);
		const { status } = await get();
		expect([status?.phase, status?.containerStatuses?.map(({ state }) => Object.keys(state ?? {})[0])]).toEqual([
			"Running",
			["terminated", "running"],
		]);
	});
});
