import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { inClusterAccess } from "./in-cluster.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-pod-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("inside a Pod", () => {
	test("no variables: this is none", async () => {
		expect(await inClusterAccess({ folder })).toBeUndefined();
		expect(await inClusterAccess({ host: "10.96.0.1", port: "", folder })).toBeUndefined();
	});

	test("without a token it says what is missing, and what to do", async () => {
		await expect(inClusterAccess({ host: "10.96.0.1", port: "443", folder })).rejects.toThrow(
			/the token of the ServiceAccount cannot be read in .*automountServiceAccountToken/,
		);
	});

	test.each([
		["10.96.0.1", "https://10.96.0.1:443"],
		["fd00:96::1", "https://[fd00:96::1]:443"],
	])("the server at %s is %s, with its authority and the token of the file", async (host, server) => {
		writeFileSync(path.join(folder, "token"), "abc\n");
		writeFileSync(path.join(folder, "ca.crt"), "PEM");
		const access = await inClusterAccess({ host, port: "443", folder });
		expect(access).toMatchObject({ server, ca: "PEM" });
		expect(await access?.token?.()).toBe("abc");
	});
});
