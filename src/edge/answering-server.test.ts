import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answeringServer } from "./answering-server.ts";
import { writeKubeconfig } from "./kubeconfig-file.ts";

let folder = "";
let file = "";
let other: Server;
let url = "";

beforeEach(async () => {
	folder = await mkdtemp(path.join(tmpdir(), "sliceplane-test-"));
	file = path.join(folder, "kubeconfig");
	other = createServer((socket) => socket.destroy());
	await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
	url = `https://127.0.0.1:${(other.address() as AddressInfo).port}`;
	await writeKubeconfig(file, { server: url, ca: "-----BEGIN CERTIFICATE-----", user: { token: "t" } });
});
afterEach(async () => {
	other.close();
	await rm(folder, { recursive: true, force: true });
});

test("a server that takes connections is found by the file that names it", async () => {
	expect((await answeringServer(file))?.origin).toBe(url);
});

test("a server that is gone does not count", async () => {
	await new Promise((resolve) => other.close(resolve));
	expect(await answeringServer(file)).toBeUndefined();
});

test.each(["", "nonsense: [", JSON.stringify({ "current-context": "x" })])("a file of %j names none", async (text) => {
	await writeFile(file, text);
	expect(await answeringServer(file)).toBeUndefined();
});

test("no file names none", async () => {
	expect(await answeringServer(path.join(folder, "nope"))).toBeUndefined();
});
