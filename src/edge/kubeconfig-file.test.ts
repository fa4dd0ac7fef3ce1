import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeKubeconfig } from "./kubeconfig-file.ts";

const CONTENT = { server: "https://127.0.0.1:1", ca: "PEM", user: { token: "t" } };

describe("writeKubeconfig()", () => {
	let folder = "";
	beforeAll(async () => {
		folder = await mkdtemp(path.join(tmpdir(), "sliceplane-test-"));
	});
	afterAll(() => rm(folder, { recursive: true, force: true }));

	test("writes a file that only its owner can read, over an open one too", async () => {
		const name = path.join(folder, "kubeconfig");
		await writeFile(name, "old");
		await writeKubeconfig(name, CONTENT);
		expect((await stat(name)).mode & 0o777).toBe(0o600);
		const text = await readFile(name, "utf8");
		expect(JSON.parse(text)).toMatchObject({
			apiVersion: "v1",
			kind: "Config",
			"current-context": "sliceplane",
			users: [{ name: "sliceplane", user: { token: "t" } }],
		});
	});

	test("makes the folders that are missing", async () => {
		const name = path.join(folder, "a/b/c/kubeconfig");
		await writeKubeconfig(name, CONTENT);
		expect((await stat(name)).isFile()).toBe(true);
	});

	test("leaves nothing of the token when the file cannot be put in its place", async () => {
		const parent = path.join(folder, "taken");
		await mkdir(path.join(parent, "kubeconfig"), { recursive: true });
		await expect(writeKubeconfig(path.join(parent, "kubeconfig"), CONTENT)).rejects.toThrow("it is a folder");
		expect(await readdir(parent)).toEqual(["kubeconfig"]);
	});

	test.each([
		{ file: "/", says: "cannot write kubeconfig /: it is a folder" },
		{ file: "", says: 'cannot write kubeconfig "": the path is empty' },
		{
			file: "package.json/a/kubeconfig",
			says: "cannot write kubeconfig package.json/a/kubeconfig: a part of the path",
		},
	])("says of $file what is wrong and what to do", async ({ file, says }) => {
		const error = await writeKubeconfig(file, CONTENT).catch((reason: unknown) => String(reason));
		expect(error).toContain(says);
		expect(error).toContain("; choose another place with --kubeconfig");
	});

	test.runIf(process.platform === "linux")("gives up on a folder that the system does not make", async () => {
		await expect(writeKubeconfig("/proc/x/kubeconfig", CONTENT)).rejects.toThrow("no such file or folder");
	});
});
