/** The program as people meet it in a terminal: help, wrong usage, taken ports, signals. */

import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Finished, finished, PROGRAM, RunningPlane } from "./plane.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-cli-"));
const env = { ...process.env, XDG_CACHE_HOME: path.join(process.cwd(), ".cache") };
const sliceplane = (...args: string[]): Promise<Finished> =>
	finished(process.execPath, [PROGRAM, ...args], { env, cwd: folder });
const UP = ["up", "--listen", "127.0.0.1:0"];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("wrong usage", () => {
	test.each([
		{ args: ["up", "--node", "3"], says: /unknown option '--node'\n\(Did you mean --nodes\?\)/ },
		{ args: ["up", "--nodes", "many"], says: /--nodes <n>.*Want a whole number from 0 to 10000/ },
		{ args: ["up", "--listen", "here"], says: /Want HOST:PORT, such as 127\.0\.0\.1:6443/ },
		{ args: ["up", "--network", "carrier-pigeon"], says: /--network carrier-pigeon: want none, userspace or netns/ },
		{ args: ["up", "--data-dir", "x"], says: /--data-dir: not built yet/ },
		{ args: ["up", "--network", "netns"], says: /--network netns: not built yet/ },
		{ args: ["explain", "svc/web"], says: /explain: not built yet/ },
		{ args: ["fail", "n2"], says: /n2: want node\/NAME, such as node\/n2/ },
		{ args: ["up", "--node-monitor-grace-period", "100ms"], says: /Want a duration of at least 1s/ },
		{ args: ["upp"], says: /unknown command 'upp'\n\(Did you mean up\?\)/ },
		{ args: ["version", "-o", "xml"], says: /-o xml: want json or yaml/ },
	])("$args ends with 2 and says what is wanted", async ({ args, says }) => {
		const { status, stdout, stderr } = await sliceplane(...args);
		expect(stderr).toMatch(says);
		expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
	});

	test.each([
		{ args: ["--controllers", "none"], says: 'error: --controllers: "none" is no controller: want "*" or some of ' },
		{ args: ["--cluster-cidr", "10.0.0.0/24", "--nodes", "2"], says: "has room for 1 nodes, --nodes asks for 2" },
		{ args: ["--service-cluster-ip-range", "10.0.0.0"], says: "--service-cluster-ip-range 10.0.0.0: want a CIDR" },
		{ args: ["-f", "nosuch.yaml"], says: "nosuch.yaml" },
	])("up $args ends with 1 and one line that names the flag", async ({ args, says }) => {
		const { status, stdout, stderr } = await sliceplane(...UP, ...args);
		expect(stderr.trim().split("\n").at(-1)).toContain(says);
		expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
	});
});

describe("help and version", () => {
	test.each([[["--help"]], [["up", "--help"]], [["version", "--help"]]])("%s shows an example", async (args) => {
		const { status, stdout } = await sliceplane(...args);
		expect(status).toBe(0);
		expect(stdout).toMatch(/Examples?:\n {2}\$ sliceplane /);
	});

	test("version prints JSON when asked", async () => {
		const { stdout } = await sliceplane("version", "-o", "json");
		expect(JSON.parse(stdout)).toMatchObject({ kubernetes: "v1.36.2+sliceplane" });
	});
});

describe("completion", () => {
	test("of bash completes commands, and the flags of each", async () => {
		const { stdout } = await sliceplane("completion", "bash");
		const complete = async (...words: string[]): Promise<string> => {
			const script = `${stdout}\nCOMP_WORDS=(${words.join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _sliceplane; echo "\${COMPREPLY[@]}"`;
			return (await finished("bash", ["-c", script], { cwd: folder })).stdout.trim();
		};
		expect(await complete("sliceplane", "ver")).toBe("version");
		expect(await complete("sliceplane", "up", "--nod")).toBe(
			"--nodes --node-cidr-mask-size --node-monitor-grace-period",
		);
	});

	test.each(["zsh", "fish"])("of %s names every command", async (shell) => {
		const { status, stdout } = await sliceplane("completion", shell);
		expect(status).toBe(0);
		for (const name of ["up", "version", "completion"]) expect(stdout).toContain(name);
	});

	test("for another shell is wrong usage", async () => {
		expect(await sliceplane("completion", "tcsh")).toMatchObject({ status: 2, stdout: "" });
	});
});

describe("up", () => {
	test("says in one line that the port is taken, and ends with 1", async () => {
		const other = createServer();
		await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
		const { port } = other.address() as AddressInfo;
		const { status, stdout, stderr } = await sliceplane("up", "--listen", `127.0.0.1:${port}`);
		other.close();
		expect(stderr).toMatch(/^error: cannot listen on 127\.0\.0\.1:\d+: the port is taken: .*\n$/);
		expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
	});

	test("runs a command with KUBECONFIG set, gives it stdout, and passes its exit status on", async () => {
		const script = 'console.log(require("node:fs").existsSync(process.env.KUBECONFIG)); process.exit(7)';
		const { status, stdout } = await sliceplane(...UP, "--", process.execPath, "-e", script);
		expect({ status, stdout }).toEqual({ status: 7, stdout: "true\n" });
	});

	test("ends with 127 when the command does not exist", async () => {
		expect(await sliceplane(...UP, "--", "no-such-program")).toMatchObject({ status: 127 });
	});

	test("applies manifests, and names file and line of a bad one", async () => {
		const file = path.join(folder, "bad.yaml");
		writeFileSync(
			file,
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Nonsense\nmetadata: {name: b}\n",
		);
		const { status, stderr } = await sliceplane(...UP, "-f", file, "--", "true");
		expect(status).toBe(1);
		expect(stderr).toContain("namespace/a created");
		expect(stderr).toContain(`error: ${file}: line 5: no kind "Nonsense" is served in version v1`);
	});

	test.each(["SIGTERM", "SIGINT"] as const)(
		"ends with 0 on %s, and had written a kubeconfig for its user alone",
		async (signal) => {
			const plane = await RunningPlane.start();
			expect(statSync(plane.kubeconfig).mode & 0o777).toBe(0o600);
			expect(plane.stdout).toMatch(/^Sliceplane is ready: https:\/\/127\.0\.0\.1:\d+ {2}KUBECONFIG=\/\S+\n$/);
			expect(await plane.stop(signal)).toBe(0);
		},
	);
});
