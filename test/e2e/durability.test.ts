/** A plane with a data folder loses nothing that it has acknowledged or shown, however it ends. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CONFIG_MAPS } from "../../src/api/resource-names.ts";
import type { ConfigMap } from "../../src/api/types/core.ts";
import { openDataFolder } from "../../src/edge/lmdb-log.ts";
import { loggedStore } from "../../src/store/store.ts";
import { meta } from "../../src/testing/builders.ts";
import { silentMetrics } from "../../src/testing/silent.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import { killedRounds } from "../load/durable.ts";
import { eventually, finished, PROGRAM, RunningPlane } from "./plane.ts";

const QUIET = ["--nodes", "0", "--network", "none"];
/** A mount that only the program sees, and that is gone with it. */
const canMount = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", tmpdir()]).status === 0;
if (!canMount) process.stderr.write("skipped: disks that are full or read-only: this user cannot mount\n");

const canTrace = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0;
if (!canTrace) process.stderr.write("skipped: a trace of system calls: no strace, or it is not allowed\n");

const canUnshare = spawnSync("unshare", ["-p", "-f", "--mount-proc", "true"]).status === 0;
if (!canUnshare) process.stderr.write("skipped: planes in several PID namespaces: this user cannot make them\n");

/** A user who owns nothing here. */
const NOBODY = 65_534;
const canBeAnother =
	spawnSync(process.execPath, [PROGRAM, "version"], { uid: NOBODY, gid: NOBODY, cwd: "/" }).status === 0;
if (!canBeAnother) process.stderr.write("skipped: folders of another user: this user cannot be another one\n");

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(path.join(tmpdir(), "sliceplane-durable-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sliceplane(...args: readonly string[]) {
	return finished(process.execPath, [PROGRAM, ...args], { cwd: folder });
}

/** Runs the program with a small disk at `folder`. */
function withDisk(options: string): readonly string[] {
	return ["unshare", "-m", "sh", "-c", `mount -t tmpfs -o ${options} tmpfs ${folder} && exec "$@"`, "sh"];
}

async function create(plane: RunningPlane, name: string, text = "x"): Promise<void> {
	const client = await clusterClient({ kubeconfig: plane.kubeconfig });
	try {
		await client.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name }, data: { text } });
	} finally {
		client.close();
	}
}

/** A store that takes a while to copy. */
async function makeLarge(name: string): Promise<void> {
	const { view, log, close } = await openDataFolder({
		folder: path.join(folder, name),
		start: 1,
		metrics: silentMetrics,
	});
	const store = loggedStore(view, log);
	const text = "x".repeat(900_000);
	for (let index = 0; index < 60; index++) {
		const object = { apiVersion: "v1", kind: "ConfigMap", metadata: meta(`c-${index}`), data: { text } };
		await store.commit([{ kind: "put", space: "/registry/configmaps/", key: `default/c-${index}`, object }]);
	}
	await close();
}

/** Starts the program, and ends it when it has begun to make a store below `where`. */
async function endedWithin(where: string, signal: NodeJS.Signals, ...args: readonly string[]): Promise<string> {
	const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder });
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr += String(chunk);
	});
	const ended = once(child, "close");
	const place = path.join(folder, where);
	const parts = async (): Promise<readonly string[]> =>
		existsSync(place) ? readdirSync(place).filter((name) => existsSync(path.join(place, name, "marked"))) : [];
	await eventually(parts, (found) => found.length > 0);
	child.kill(signal);
	await ended;
	return stderr;
}

async function names(plane: RunningPlane): Promise<readonly string[]> {
	const client = await clusterClient({ kubeconfig: plane.kubeconfig });
	try {
		const { items } = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: "default" });
		return items.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt");
	} finally {
		client.close();
	}
}

async function watchedFrom(plane: RunningPlane, revision: number): Promise<unknown> {
	const client = await clusterClient({ kubeconfig: plane.kubeconfig });
	const stopping = new AbortController();
	try {
		const watch = client.watch<ConfigMap>(CONFIG_MAPS, { resourceVersion: String(revision), signal: stopping.signal });
		for await (const event of watch) return event;
		return "ended";
	} catch (error) {
		return error;
	} finally {
		stopping.abort();
		client.close();
	}
}

test("kill -9 under 64 writers loses nothing that was told", async () => {
	const run = await killedRounds(3, 1);
	expect(run.problems).toEqual([]);
	expect(run.acknowledged).toBeGreaterThan(100);
	expect(run.seen).toBeGreaterThan(100);
});

test.skipIf(!canTrace)("no write is answered before its sync", async () => {
	const file = path.join(folder, "trace");
	const calls = "trace=fdatasync,fsync,write,writev,pwrite64";
	const strace = ["strace", "-f", "-q", "-e", calls, "-e", "signal=none", "-o", file];
	const flags = [...QUIET, "--controllers", "-scheduler", "--data-dir", path.join(folder, "data")];
	const plane = await RunningPlane.start(flags, strace);
	// One connection: all that it sends after its first answer is answers.
	const client = await clusterClient({ kubeconfig: plane.kubeconfig });
	for (let index = 0; index < 20; index++) {
		await client.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name: `c-${index}` } });
	}
	client.close();
	// The tracer keeps signals to itself: its child is told, and the tracer ends with it.
	const tracer = String(plane.process.pid);
	const [traced = ""] = readFileSync(`/proc/${tracer}/task/${tracer}/children`, "utf8").split(" ");
	process.kill(Number(traced), "SIGTERM");
	await once(plane.process, "exit");
	// Of each line the one thing that it is: pages of the store, their sync, or TLS records, of which answers are made.
	const steps = readFileSync(file, "utf8")
		.split("\n")
		.flatMap((line) => {
			if (/ fd?(data)?sync\(/.test(line)) return ["sync"];
			if (/ (pwrite64|writev)\(.*(= 4096|iov_len=4096)/.test(line)) return ["page"];
			return / writev?\(\d+, (\[\{iov_base=)?"\\27\\3\\3/.test(line) ? ["tls"] : [];
		})
		.join(" ");
	const later = steps.slice(steps.indexOf("sync tls page") + "sync tls".length);
	expect(later.match(/page sync tls/g)?.length ?? 0).toBeGreaterThanOrEqual(18);
	expect(later).not.toMatch(/page tls/);
});

describe("a data folder", () => {
	test("is copied while a plane goes on, and restored into a new one", async () => {
		const plane = await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "a")]);
		await create(plane, "before");
		const copied = await sliceplane("store", "snapshot", "copy", "--data-dir", "a", "-o", "json");
		expect(copied.stderr).toBe("");
		expect(JSON.parse(copied.stdout)).toMatchObject({ problems: [] });
		const copy = path.join(folder, "copy");
		expect(readdirSync(copy)).toEqual(["data.mdb"]);
		expect([copy, path.join(copy, "data.mdb")].map((file) => statSync(file).mode & 0o777)).toEqual([0o700, 0o600]);
		await create(plane, "after");
		const busy = await sliceplane("store", "check", "--data-dir", "a");
		expect([busy.status, busy.stderr]).toEqual([
			1,
			`error: a is in use by process ${plane.process.pid}: end it first, or take another folder\n`,
		]);
		await plane.stop();
		expect((await sliceplane("store", "check", "--data-dir", "a")).stdout).toMatch(
			/^revision \d+, \d+ objects, watches go on/,
		);
		expect((await sliceplane("store", "restore", "copy", "--data-dir", "b")).status).toBe(0);
		const restored = await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "b")]);
		expect(await names(restored)).toEqual(["before"]);
		// From then on other things have happened: whoever watches from there must list anew.
		expect(await watchedFrom(restored, JSON.parse(copied.stdout).revision + 1)).toMatchObject({ code: 410 });
		await restored.stop();
	});

	test.each([
		{
			args: ["store", "check", "--data-dir", "none"],
			says: "error: none holds no store: want a folder of --data-dir\n",
		},
		{
			args: ["store", "restore", "none", "--data-dir", "new"],
			says: "error: none holds no store: want a folder of --data-dir\n",
		},
		{
			args: ["store", "restore", "empty", "--data-dir", "new"],
			says: /^error: new is not made: empty\/data\.mdb: it is empty: restore a snapshot/,
		},
		{
			args: ["store", "check", "--data-dir", "half"],
			says: /^error: half\/store\/data\.mdb: it is empty: restore a snapshot/,
		},
	])("$args is refused in a sentence", async ({ args, says }) => {
		for (const name of ["empty", "half/store"]) {
			mkdirSync(path.join(folder, name), { recursive: true });
			writeFileSync(path.join(folder, name, "data.mdb"), "");
		}
		const { status, stderr } = await sliceplane(...args);
		expect([status, stderr]).toEqual([1, typeof says === "string" ? says : expect.stringMatching(says)]);
		expect(existsSync(path.join(folder, "new/store"))).toBe(false);
	});

	test.each([
		{ args: ["store", "snapshot", "", "--data-dir", "a"], says: "Want a folder." },
		{ args: ["store", "check", "--data-dir", ""], says: "Want a folder." },
		{ args: ["kubeconfig", "--user", ""], says: "Want a name, such as ann." },
	])("$args is wrong usage", async ({ args, says }) => {
		const { status, stdout, stderr } = await sliceplane(...args);
		expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(says)]);
	});

	test("is not copied into itself", async () => {
		await (await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "a")])).stop();
		const { status, stderr } = await sliceplane("store", "snapshot", "a/copies/x", "--data-dir", "a");
		expect([status, stderr]).toEqual([1, "error: a/copies/x is inside a: a snapshot wants a folder elsewhere\n"]);
		expect(readdirSync(path.join(folder, "a"))).toEqual(["store"]);
	});

	test("is one plane's, of all that start at one instant after a crash", async () => {
		const flags = [...QUIET, "--data-dir", path.join(folder, "a")];
		await (await RunningPlane.start(flags)).stop("SIGKILL");
		const started = await Promise.allSettled(Array.from({ length: 4 }, () => RunningPlane.start(flags)));
		const running = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
		await Promise.all(running.map((plane) => plane.stop()));
		expect(running).toHaveLength(1);
		for (const result of started) {
			if (result.status === "rejected") expect(String(result.reason)).toMatch(/a is in use by process \d+/);
		}
	});

	test.skipIf(!canUnshare)("is one plane's, also of those in other PID namespaces", async () => {
		const flags = [...QUIET, "--data-dir", path.join(folder, "a")];
		const elsewhere = ["unshare", "-p", "-f", "--mount-proc", "--kill-child"];
		const plane = await RunningPlane.start(flags, elsewhere);
		for (const before of [[], elsewhere]) {
			await expect(RunningPlane.start(flags, before)).rejects.toThrow("a is in use by process 1: end it first");
		}
		await plane.stop("SIGKILL");
		await (await RunningPlane.start(flags)).stop();
	});

	test("whose locks fail is the later plane's: the earlier one ends, and nothing that was told is lost", async () => {
		const flags = [...QUIET, "--data-dir", path.join(folder, "a")];
		const first = await RunningPlane.start(flags);
		await create(first, "told");
		const ended = once(first.process, "exit");
		rmSync(path.join(folder, "a/store/lock.mdb"));
		const second = await RunningPlane.start(flags);
		expect(await ended).toEqual([1, null]);
		expect(first.stderr).toContain(`${folder}/a: another process has taken it, and this one may not write any more\n`);
		expect(await names(second)).toEqual(["told"]);
		expect(await second.stop()).toBe(0);
	});

	test.each([
		{ what: "removed", away: (data: string) => rmSync(data, { recursive: true }) },
		{ what: "moved", away: (data: string) => renameSync(data, `${data}-moved`) },
		{ what: "without its file", away: (data: string) => rmSync(path.join(data, "store", "data.mdb")) },
	])("that is $what ends its plane: no write is answered after that", async ({ away }) => {
		const data = path.join(folder, "a");
		const plane = await RunningPlane.start([...QUIET, "--data-dir", data]);
		await create(plane, "before");
		const ended = once(plane.process, "exit");
		away(data);
		await expect(create(plane, "after")).rejects.toThrow();
		expect(await ended).toEqual([1, null]);
		expect(plane.stderr).toContain(`${data}: its store is not there any more: it was removed, moved or replaced`);
	});

	test.each(["SIGINT", "SIGTERM"] as const)("that is copied or restored leaves nothing at a %s", async (signal) => {
		await makeLarge("a");
		mkdirSync(path.join(folder, "copies"));
		expect(await endedWithin("copies", signal, "store", "snapshot", "copies/b", "--data-dir", "a")).toBe(
			`error: copies/b is not made: stopped by ${signal}\n`,
		);
		expect(readdirSync(path.join(folder, "copies"))).toEqual([]);
		expect((await sliceplane("store", "snapshot", "copy", "--data-dir", "a")).status).toBe(0);
		expect(await endedWithin("new", signal, "store", "restore", "copy", "--data-dir", "new")).toBe(
			`error: new is not made: stopped by ${signal}\n`,
		);
		expect(readdirSync(folder).sort()).toEqual(["a", "copies", "copy"]);
	});

	test("that was being restored at a kill -9 has nothing of that after the next restore", async () => {
		await makeLarge("a");
		await sliceplane("store", "snapshot", "copy", "--data-dir", "a");
		await endedWithin("new", "SIGKILL", "store", "restore", "copy", "--data-dir", "new");
		expect(readdirSync(path.join(folder, "new"))).toHaveLength(1);
		// Who works for it ends when it sees that nobody waits.
		const restoredAgain = async (): Promise<readonly string[]> => {
			rmSync(path.join(folder, "new/store"), { recursive: true, force: true });
			expect((await sliceplane("store", "restore", "copy", "--data-dir", "new")).stderr).toBe("");
			return readdirSync(path.join(folder, "new"));
		};
		expect(await eventually(restoredAgain, (found) => found.length === 1)).toEqual(["store"]);
	});

	test("that is damaged is told without a number of objects", async () => {
		await makeLarge("a");
		const file = path.join(folder, "a/store/data.mdb");
		const bytes = readFileSync(file);
		bytes.write("y", bytes.lastIndexOf("xxxx"));
		writeFileSync(file, bytes);
		const { status, stdout } = await sliceplane("store", "check", "--data-dir", "a");
		expect([status, stdout]).toEqual([
			1,
			expect.stringMatching(/^revision 61, objects not counted, .*\nfault: log \d+: its checksum is wrong/),
		]);
	});

	test("is not copied to below a file", async () => {
		await (await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "a")])).stop();
		const { status, stderr } = await sliceplane("store", "snapshot", "/dev/full/x", "--data-dir", "a");
		expect([status, stderr]).toEqual([1, "error: /dev/full/x is not made: a part of the path is no folder\n"]);
	});

	test.skipIf(!canBeAnother)("of another user is told to be that", async () => {
		await (await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "a")])).stop();
		await sliceplane("store", "snapshot", "copy", "--data-dir", "a");
		chmodSync(folder, 0o755);
		for (const [named, ...args] of [
			["a", "check", "--data-dir", "a"],
			["a", "snapshot", "/tmp/none", "--data-dir", "a"],
			["copy", "restore", "copy", "--data-dir", "/tmp/none"],
		]) {
			const options = { uid: NOBODY, gid: NOBODY, cwd: folder, encoding: "utf8" } as const;
			const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "store", ...args], options);
			expect([status, stderr]).toEqual([1, `error: ${named} cannot be read by this user\n`]);
		}
	});

	test.skipIf(!canMount)("on a disk that is full is not made, and what is there is told to be sound", async () => {
		await (await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "a")])).stop();
		const outside = mkdtempSync(path.join(tmpdir(), "sliceplane-full-"));
		cpSync(path.join(folder, "a"), path.join(outside, "a"), { recursive: true });
		rmSync(path.join(outside, "a/store/lock.mdb"));
		const program = `'${process.execPath}' '${PROGRAM}'`;
		const script = [
			`cp -r ${outside}/a ${folder}/a; dd if=/dev/zero of=${folder}/fill 2>/dev/null`,
			`${program} apiserver --listen 127.0.0.1:0 --kubeconfig ${outside}/k --data-dir ${folder}/n; echo $?; ls -A ${folder}/n`,
			`${program} store check --data-dir ${folder}/a; echo $?`,
			`${program} store snapshot ${outside}/copy --data-dir ${folder}/a; echo $?`,
			`${program} store snapshot ${folder}/copy --data-dir ${outside}/a; echo $?; ls ${folder}`,
		].join("\n");
		const [file = "", ...words] = [...withDisk("size=2m"), "sh", "-c", script];
		const { stdout, stderr } = await finished(file, words);
		rmSync(outside, { recursive: true });
		const noSpace = "no space is left there; free some, and try again";
		expect(stderr.split("\n")).toEqual([
			`error: --data-dir ${folder}/n: ${noSpace}`,
			`error: ${folder}/a/store/data.mdb: ${noSpace}`,
			`error: ${outside}/copy is not made: ${folder}/a/store/data.mdb: ${noSpace}`,
			`error: ${folder}/copy is not made: ${noSpace}`,
			"",
		]);
		expect(stdout).toBe("1\n1\n1\n1\na\nfill\nn\n");
	});

	test.skipIf(!canMount)("that does not fit on a disk is not restored by half", async () => {
		await (await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "a")])).stop();
		await sliceplane("store", "snapshot", "copy", "--data-dir", "a");
		const outside = mkdtempSync(path.join(tmpdir(), "sliceplane-copy-"));
		cpSync(path.join(folder, "copy"), outside, { recursive: true });
		const restore = `'${process.execPath}' '${PROGRAM}' store restore ${outside} --data-dir ${folder}/new`;
		const script = `${restore}; echo $?; ls -A ${folder}`;
		const [file = "", ...words] = [...withDisk("size=100k"), "sh", "-c", script];
		const { stdout, stderr } = await finished(file, words);
		rmSync(outside, { recursive: true });
		expect([stdout, stderr]).toEqual(["1\n", `error: ${folder}/new is not made: the disk is full\n`]);
	});

	test.skipIf(!canMount)("on a disk that is full refuses what does not fit, and loses nothing", async () => {
		const plane = await RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "data")], withDisk("size=8m"));
		const text = "x".repeat(200_000);
		let made = 0;
		const fill = async (): Promise<void> => {
			for (; made < 100; made++) await create(plane, `c-${made}`, text);
		};
		await expect(fill()).rejects.toMatchObject({
			code: 500,
			message: expect.stringContaining("no space is left there; free some, and try again; nothing was written"),
		});
		expect(made).toBeGreaterThan(5);
		expect(await names(plane)).toHaveLength(made);
		await expect(create(plane, "more", text)).rejects.toMatchObject({ code: 500 });
		expect(await names(plane)).toHaveLength(made);
		expect(await plane.stop()).toBe(0);
	});

	test.skipIf(!canMount)("that cannot be written to is refused at the start", async () => {
		const start = RunningPlane.start([...QUIET, "--data-dir", path.join(folder, "data")], withDisk("ro"));
		await expect(start).rejects.toThrow(/error: --data-dir \S+\/data: it cannot be written to by this user/);
	});
});
