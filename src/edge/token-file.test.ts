import { mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TokenFile } from "./token-file.ts";

let folder: string;
let file: string;
beforeEach(async () => {
	vi.useFakeTimers({ toFake: ["performance"] });
	folder = await mkdtemp(path.join(tmpdir(), "sliceplane-token-"));
	file = path.join(folder, "token");
});
afterEach(async () => {
	vi.useRealTimers();
	await rm(folder, { recursive: true });
});

describe("TokenFile", () => {
	test("takes a new token from the file within a minute", async () => {
		await writeFile(file, "one\n");
		const tokens = new TokenFile(file);
		expect(await tokens.read()).toBe("one");
		await writeFile(file, "two");
		vi.advanceTimersByTime(59_000);
		expect(await tokens.read()).toBe("one");
		vi.advanceTimersByTime(2_000);
		expect(await tokens.read()).toBe("two");
	});

	test("goes on with the last token while the file is gone", async () => {
		await writeFile(file, "one");
		const tokens = new TokenFile(file);
		await tokens.read();
		await unlink(file);
		vi.advanceTimersByTime(61_000);
		expect(await tokens.read()).toBe("one");
	});

	test("rejects when there never was one", async () => {
		await expect(new TokenFile(file).read()).rejects.toThrow("ENOENT");
	});
});
