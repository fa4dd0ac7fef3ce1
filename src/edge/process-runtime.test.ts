import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, test } from "vitest";
import type { Container } from "../api/types/core.ts";
import type { RunningContainer } from "../kubelet/ports.ts";
import { pod } from "../testing/builders.ts";
import { ProcessRuntime } from "./process-runtime.ts";
import { SystemClock } from "./system-clock.ts";

const runtimes: ProcessRuntime[] = [];
afterEach(async () => {
	for (const runtime of runtimes.splice(0)) await runtime.stop(0);
});

interface Started {
	readonly runtime: ProcessRuntime;
	readonly running: RunningContainer;
	readonly lines: readonly string[];
	/** Resolves when it has printed so many lines. */
	printed(count: number): Promise<void>;
	readonly ports: Readonly<Record<number, number>>;
}

async function started(container: Partial<Container>): Promise<Started> {
	const runtime = new ProcessRuntime(new SystemClock());
	runtimes.push(runtime);
	const whole: Container = { name: "c", ...container };
	const ports = await runtime.ports(whole);
	const lines: string[] = [];
	const waiting = new Set<() => void>();
	const output = (line: string): void => {
		lines.push(line);
		for (const check of waiting) check();
	};
	const running = runtime.start({
		pod: pod("p"),
		container: whole,
		podIPs: ["10.244.0.2"],
		hostIPs: [],
		ports,
		output,
	});
	const printed = (count: number): Promise<void> =>
		new Promise((resolve) => {
			const check = (): void => {
				if (lines.length >= count) resolve();
			};
			waiting.add(check);
			check();
		});
	return { runtime, running, lines, printed, ports };
}

function sh(script: string): readonly string[] {
	return ["sh", "-c", script];
}

/** One that has ended and that nobody has asked for (Z) counts as ended. */
function isAlive(pid: number): boolean {
	const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
	return stdout.trim() !== "" && !stdout.startsWith("Z");
}

describe("a container as a process", () => {
	test("is one only with a command", () => {
		const runtime = new ProcessRuntime(new SystemClock());
		runtimes.push(runtime);
		expect([runtime.runs({ name: "c", command: ["x"] }), runtime.runs({ name: "c", args: ["x"] })]).toEqual([
			true,
			false,
		]);
	});

	test.each<{ command: readonly string[]; exitCode: number; reason?: string }>([
		{ command: sh("exit 3"), exitCode: 3 },
		{ command: sh("kill -TERM $$$$; sleep 9"), exitCode: 143 },
		{ command: ["/no/such/program"], exitCode: 128, reason: "StartError" },
		{ command: ["sh", "\0"], exitCode: 128, reason: "StartError" },
	])("$command ends with $exitCode", async ({ command, exitCode, reason }) => {
		const { running } = await started({ command });
		const exit = await running.ended;
		expect([exit.exitCode, exit.reason]).toEqual([exitCode, reason]);
	});

	test("prints lines of both streams, has variables, arguments and a folder", async () => {
		const env = [{ name: "WHO", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
		const command = sh('echo "$WHO $0 $1 $PORT"; pwd -P >&2; printf "no end"');
		const { running, lines, ports } = await started({
			command,
			args: ["zero", "$(PORT_80)"],
			env,
			workingDir: tmpdir(),
			ports: [{ containerPort: 80 }],
		});
		await running.ended;
		expect([...lines].sort()).toEqual(
			[expect.stringMatching(/tmp/i), "no end", `p zero ${ports[80]} ${ports[80]}`].sort(),
		);
	});

	test("listens on the port that it is given", async () => {
		const script =
			'require("net").createServer((c) => c.end("hi")).listen(process.env.PORT_80, "127.0.0.1", () => console.log("up"))';
		const { printed, ports } = await started({
			command: [process.execPath, "-e", script],
			ports: [{ containerPort: 80 }],
		});
		await printed(1);
		const client = connect(ports[80] ?? 0, "127.0.0.1");
		expect(String((await once(client, "data"))[0])).toBe("hi");
		client.destroy();
	});

	test("gets SIGTERM, and what it started ends with it", async () => {
		const { running, printed, lines } = await started({ command: sh('trap "exit 7" TERM; sleep 60 & echo $!; wait') });
		await printed(1);
		const child = Number(lines[0]);
		expect(isAlive(child)).toBe(true);
		running.stop("SIGTERM");
		expect((await running.ended).exitCode).toBe(7);
		expect(isAlive(child)).toBe(false);
	});

	test.skipIf(process.platform !== "linux").each(["ends by itself", "is told to stop", "ends with its runtime"])(
		"that %s takes along what it started in a session of its own",
		async (how) => {
			const script = 'setsid sh -c "echo \\$\\$; exec sleep 60 >/dev/null 2>&1" & sleep 0.2; echo up; ';
			const command = sh(`${script}${how === "ends by itself" ? "exit 0" : "wait; sleep 60"}`);
			const { runtime, running, printed, lines } = await started({ command });
			await printed(2);
			const child = Number(lines.find((line) => line !== "up"));
			if (how === "is told to stop") running.stop("SIGKILL");
			if (how === "ends with its runtime") await runtime.stop(0);
			await running.ended;
			for (let tries = 0; tries < 100 && isAlive(child); tries++) await new Promise((resolve) => setImmediate(resolve));
			expect([Number.isInteger(child), isAlive(child)]).toEqual([true, false]);
		},
	);

	test("that ignores SIGTERM is killed when its runtime stops", async () => {
		const { runtime, running, printed } = await started({
			command: sh('trap "" TERM; echo up; while :; do sleep 60; done'),
		});
		await printed(1);
		await runtime.stop(50);
		expect((await running.ended).exitCode).toBe(137);
	});

	test("runs commands beside it, which end with it or when time is over", async () => {
		const { running } = await started({ command: ["sleep", "60"] });
		const never = new AbortController().signal;
		expect(await running.exec(sh("echo out; echo err >&2"), never)).toMatchObject({ isSuccess: true });
		expect(await running.exec(sh("echo no; exit 1"), never)).toEqual({ isSuccess: false, message: "no\n" });
		expect(await running.exec(["/no/such"], never)).toMatchObject({ isSuccess: false });
		const over = new AbortController();
		const late = running.exec(["sleep", "60"], over.signal);
		over.abort();
		expect(await late).toMatchObject({ isSuccess: false, message: expect.stringContaining("timed out") });
		const beside = running.exec(["sleep", "60"], never);
		running.stop("SIGKILL");
		expect(await beside).toMatchObject({ isSuccess: false });
	});
});
