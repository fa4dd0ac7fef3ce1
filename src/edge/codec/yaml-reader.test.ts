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
		const [long, short] = await Promise.all([reader.parse(LONG, "ann"), reader.parse("a: 1\nb: {c: [d, e]}\n", "ann")]);
		expect(long).toEqual({ kind: "ok", value: { a: 1, b: { c: ["d", "e"] } } });
		expect(long).toEqual(short);
	});

	test("that is broken is said to be so, where it is", async () => {
		expect(await reader.parse(`${LONG}a: 2\n`, "ann")).toMatchObject({ kind: "malformed", line: 1_003 });
	});

	test("may have keys twice when that is asked for, and tells which", async () => {
		const repeated: string[] = [];
		expect(await reader.parse(`${LONG}a: 2\n`, "ann", repeated)).toMatchObject({ kind: "ok", value: { a: 2 } });
		expect(repeated).toEqual(["a"]);
	});

	test("is not looked at beyond its limit, unless it is JSON", async () => {
		const text = "x".repeat(256 * 1024);
		expect(await reader.parse(`a: ${text}`, "ann")).toEqual({ kind: "too-long", lengthMax: 262_144 });
		expect(await reader.parse(`{"a":"${text}"}`, "ann")).toEqual({ kind: "ok", value: { a: text } });
	});

	test("keeps nobody waiting who asks for something else meanwhile", async () => {
		const order: string[] = [];
		const long = reader.parse(`a: [${"1,".repeat(20_000)}1]`, "ann").then(() => order.push("long"));
		await reader.parse("a: 1", "bob").then(() => order.push("short"));
		await long;
		expect(order).toEqual(["short", "long"]);
	});

	test("is refused when the reader is closed, and read again by a thread of its own", async () => {
		const asked = reader.parse(LONG, "ann");
		const refused = expect(asked).rejects.toThrow("the reader of YAML was closed");
		await reader.close();
		await refused;
		expect(await reader.parse(LONG, "ann")).toMatchObject({ kind: "ok" });
	});

	test("of one who sends many has one turn after another's, and too many are refused", async () => {
		const order: string[] = [];
		const many = Array.from({ length: 10 }, async (_, index) => {
			const read = await reader.parse(LONG, "ann");
			order.push(read.kind === "ok" ? `ann ${index}` : read.kind);
		});
		const another = reader.parse(LONG, "bob").then(() => order.push("bob"));
		await Promise.all([...many, another]);
		expect(order.slice(0, 4)).toEqual(["too-many", "ann 0", "ann 1", "bob"]);
		expect(order).toHaveLength(11);
	});

	test("that takes too long is given up, and the next one read by another thread", async () => {
		const hasty = new YamlReader(1);
		try {
			const [first, second] = await Promise.all([hasty.parse(LONG, "ann"), hasty.parse(LONG, "bob")]);
			expect([first, second]).toEqual(Array(2).fill({ kind: "too-slow", msMax: 1 }));
		} finally {
			await hasty.close();
		}
	});
});
