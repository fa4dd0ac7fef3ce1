/** The program as people meet it in a terminal: help, wrong usage, taken ports, signals. */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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
		{ args: ["up", "--network", "tun"], says: /--network <mode>.*Want none, userspace or netns/ },
		{ args: ["up", "--zones", "a,A_B!"], says: /--zones <a,b,c>.*Want names of at most 63 letters, digits/ },
		{ args: ["up", "--nodes", "300"], says: /has room for 256 nodes, --nodes asks for 300/ },
		{
			args: ["up", "--cluster-cidr", "10.96.0.0/24"],
			says: /^error: --cluster-cidr \S+ and --service-cluster-ip-range/,
		},
		{ args: ["up", "--controllers", "none"], says: /--controllers: "none" is no controller: want "\*" or some of / },
		{
			args: ["up", "--service-cluster-ip-range", "10.0.0.0"],
			says: /--service-cluster-ip-range 10.0.0.0: want a CIDR/,
		},
		{ args: ["up", "sh", "-c", "x"], says: /comes after --: sliceplane up -- sh -c x/ },
		{ args: ["nodes", "--help"], says: /unknown command 'nodes'/ },
		{ args: ["exec"], says: /missing required argument 'cmd'/ },
		{ args: ["exec", "-l", "app", "--", "true"], says: /--labels.*Want NAME=VALUE/ },
		{ args: ["up", "--network", "netns", "--as-node", "n1"], says: /--as-node and --network netns/ },
		{ args: ["migrate", "--help"], says: /migrate: not built yet/ },
		{ args: ["up", "--etcd-servers", "localhost"], says: /--etcd-servers "localhost": want a URL such as/ },
		{ args: ["up", "--etcd-prefix", "/x"], says: /--etcd-prefix: want --etcd-servers with it/ },
		{ args: ["apiserver", "--etcd-compaction-interval", "5m"], says: /-interval: want --etcd-servers with it/ },
		{ args: ["up", "--etcd-cafile", "ca.pem"], says: /--etcd-cafile: want --etcd-servers with it/ },
		{
			args: ["up", "--etcd-servers", "http://127.0.0.1:2379", "--data-dir", "data"],
			says: /--etcd-servers and --data-dir: objects are kept in one place/,
		},
		{ args: ["explain", "web"], says: /web: want svc\/NAME, such as svc\/web, or -A/ },
		{ args: ["explain", "svc/a", "--from-node", "n", "--from-zone", "z"], says: /cannot be used with option/ },
		{ args: ["explain", "svc/a", "--from-pod", "a/b/c"], says: /a\/b\/c: want NAME or NAMESPACE\/NAME/ },
		{ args: ["explain", "svc/a", "-o", "xml"], says: /Allowed choices are text, json, yaml, sarif, junit/ },
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
		{ args: ["-f", "nosuch.yaml"], says: "error: cannot read manifest nosuch.yaml: no such file" },
		{ args: ["-f", "."], says: "error: cannot read manifest .: it is a folder" },
		{
			args: ["--kubeconfig", "/"],
			says: "error: cannot write kubeconfig /: it is a folder; choose another place with",
		},
		{ args: ["--listen", "nohost.invalid:0"], says: "error: cannot listen on nohost.invalid:0: no such host" },
	])("up $args ends with 1 and one line that says why", async ({ args, says }) => {
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

	test("the help of up shows each default as one would type it, and nothing that is not there", async () => {
		const { stdout } = await sliceplane("up", "--help");
		const defaults = [...stdout.replace(/\s+/g, " ").matchAll(/\(default: ([^)]*)\)/g)].map(([, value]) => value);
		expect(defaults).toEqual(
			expect.arrayContaining(["127.0.0.1:6443", "30000-32767", "10.244.0.0/16", "50s", "0s", "*"]),
		);
		expect(stdout).not.toMatch(/dashboard|\[\]|\{/);
	});

	test("up takes --no-dashboard, which scripts may pass whatever the version", async () => {
		const { status, stdout } = await sliceplane("up", "--listen", "127.0.0.1:0", "--no-dashboard", "--", "echo", "up");
		expect([status, stdout]).toEqual([0, "up\n"]);
	});

	test("a reader that closes the pipe is no failure", async () => {
		const script = `"$0" "$1" up --help | true; echo "\${PIPESTATUS[0]}"`;
		expect(await finished("bash", ["-c", script, process.execPath, PROGRAM])).toMatchObject({
			stdout: "0\n",
			stderr: "",
		});
	});

	test("--version and version say the same", async () => {
		const long = await sliceplane("--version");
		expect(long).toMatchObject({
			status: 0,
			stdout: expect.stringMatching(/^sliceplane \d.*v1\.36\.2\+sliceplane\n$/),
		});
		expect((await sliceplane("version")).stdout).toBe(long.stdout);
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

	test.each([
		{ program: "no-such-program", status: 127 },
		{ program: tmpdir(), status: 126 },
	])("ends with $status when the command is $program", async ({ program, status }) => {
		expect(await sliceplane(...UP, "--", program)).toMatchObject({ status });
	});

	test("a second plane leaves the kubeconfig of the first one alone", async () => {
		const plane = await RunningPlane.start();
		const before = readFileSync(plane.kubeconfig, "utf8");
		const { status, stdout, stderr } = await sliceplane(...UP, "--kubeconfig", plane.kubeconfig);
		expect(stderr).toContain(`of a plane that runs at ${plane.url}: stop that one, or choose another place`);
		expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
		expect(readFileSync(plane.kubeconfig, "utf8")).toBe(before);
		await plane.stop();
	});

	test("a command gets a kubeconfig of its own, which is gone when it has ended", async () => {
		const { stdout } = await sliceplane(...UP, "--", process.execPath, "-p", "process.env.KUBECONFIG");
		expect(path.isAbsolute(stdout.trim())).toBe(true);
		expect(existsSync(path.dirname(stdout.trim()))).toBe(false);
		expect(existsSync(path.join(folder, ".sliceplane"))).toBe(false);
	});

	test("says that no controller runs, and how to leave one out", async () => {
		const { stderr } = await sliceplane(...UP, "--nodes", "1", "--controllers", "-scheduler", "--", "true");
		expect(stderr).toContain("1 node, 0 controllers\nno controller runs: to leave one out write '*,-scheduler'\n");
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
