import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { YamlReader } from "./yaml-reader.ts";

const LONG = `${"# a comment\n".repeat(1_000)}a: 1\nb: {c: [d, e]}\n`;

let reader: YamlReader;
beforeEach(() => {
	reader = new YamlReader();
});
afterEach(() => reader.close());

describe("long YAML, which is read in a thread,", () => {
	test("is what it is when it is short", async () => {
		const [long, short] = await Promise.all([reader.parse(LONG), reader.parse("a: 1\nb: {c: [d, e]}\n")]);
		expect(long).toEqual({ kind: "ok", value: { a: 1, b: { c: ["d", "e"] } } });
		expect(long).toEqual(short);
	});

	test("that is broken is said to be so, where it is", async () => {
		expect(await reader.parse(`${LONG}a: 2\n`)).toMatchObject({ kind: "malformed", line: 1_003 });
	});

	test("may have keys twice when that is asked for, and tells which", async () => {
		const repeated: string[] = [];
		expect(await reader.parse(`${LONG}a: 2\n`, repeated)).toMatchObject({ kind: "ok", value: { a: 2 } });
		expect(repeated).toEqual(["a"]);
	});

	test("is not looked at beyond its limit, unless it is JSON", async () => {
		const text = "x".repeat(512 * 1024);
		expect(await reader.parse(`a: ${text}`)).toEqual({ kind: "too-long", lengthMax: 524_288 });
		expect(await reader.parse(`{"a":"${text}"}`)).toEqual({ kind: "ok", value: { a: text } });
	});

	test("keeps nobody waiting who asks for something else meanwhile", async () => {
		const order: string[] = [];
		const long = reader.parse(`a: [${"1,".repeat(20_000)}1]`).then(() => order.push("long"));
		await reader.parse("a: 1").then(() => order.push("short"));
		await long;
		expect(order).toEqual(["short", "long"]);
	});

	test("is refused when the reader is closed, and read again by a thread of its own", async () => {
		const asked = reader.parse(LONG);
		const refused = expect(asked).rejects.toThrow("the reader of YAML was closed");
		await reader.close();
		await refused;
		expect(await reader.parse(LONG)).toMatchObject({ kind: "ok" });
	});
});
