import { describe, expect, test } from "vitest";
import { readTokenFile, tokenUsers } from "./static-token-file.ts";

describe("tokenUsers()", () => {
	test.each([
		["t,ann,1", { t: { name: "ann", uid: "1", groups: [] } }],
		['t,ann,1,"a,b"', { t: { name: "ann", uid: "1", groups: ["a", "b"] } }],
		["t,ann,1,a", { t: { name: "ann", uid: "1", groups: ["a"] } }],
		['"t,1","a ""b""",2', { "t,1": { name: 'a "b"', uid: "2", groups: [] } }],
		["t, ann , 1 , a", { t: { name: "ann", uid: "1", groups: ["a"] } }],
		["t,ann,", { t: { name: "ann", uid: "", groups: [] } }],
		["\n\r\nt,ann,1\n", { t: { name: "ann", uid: "1", groups: [] } }],
		["t,ann,1\nt,bob,2", { t: { name: "bob", uid: "2", groups: [] } }],
		["", {}],
	])("%j", (text, users) => {
		expect(tokenUsers(text, "f")).toEqual(users);
	});

	test.each(["secret", "secret,ann", ",ann,1", "secret,,1"])("%j is refused, and not shown", (line) => {
		const told = (): unknown => tokenUsers(`good,x,1\n${line}`, "users.csv");
		expect(told).toThrow('--token-auth-file users.csv, line 2: want token,user,uid or token,user,uid,"group1,group2"');
		expect(told).not.toThrow("secret");
	});

	test.each(['secret,ann,1,"dev,ops', 'secret,ann,1,dev"', '"secret,ann,1', 'secret,"ann"x,1'])(
		"%j, whose quotes do not match, is refused",
		(line) => {
			expect(() => tokenUsers(line, "users.csv")).toThrow(
				/^--token-auth-file users.csv, line 1: a quote is open, or inside of a word: want token,user,uid/,
			);
		},
	);

	test("a token that comes twice is told, and not shown", () => {
		const warnings: string[] = [];
		tokenUsers("secret,ann,1\nother,eve,3\nsecret,bob,2", "users.csv", (text) => warnings.push(text));
		expect(warnings).toEqual([
			"--token-auth-file users.csv, line 3: the token is that of a line before, which does not count",
		]);
	});

	test("a file that is not there is named", async () => {
		await expect(readTokenFile("/none/users.csv", () => undefined)).rejects.toThrow(
			/^cannot read --token-auth-file \/none\/users.csv: /,
		);
	});
});
