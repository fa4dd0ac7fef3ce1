/** Rules about the text of the code itself. Each ban names what to use instead. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

interface Ban {
	readonly pattern: RegExp;
	readonly instead: string;
	readonly allowedIn: RegExp;
}

const BANS: readonly Ban[] = [
	{ pattern: /\bDate\.now\(|new Date\(\)/, instead: "Clock.wallMs()", allowedIn: /^src\/edge\// },
	{ pattern: /\bperformance\.now\(/, instead: "Clock.monotonicMs()", allowedIn: /^src\/edge\// },
	{ pattern: /\bsetTimeout\(|\bsetInterval\(/, instead: "Clock.sleep()", allowedIn: /^src\/edge\// },
	{ pattern: /\bMath\.random\(|\brandomUUID\(/, instead: "Random or IdSource", allowedIn: /^src\/edge\// },
	{ pattern: /\bconsole\./, instead: "Logger", allowedIn: /^src\/(edge|cli)\// },
	{ pattern: /\bprocess\.(env|exit|argv)/, instead: "options passed from main", allowedIn: /^src\/(edge|cli)\// },
	{ pattern: /\blocaleCompare\(/, instead: "compareStrings()", allowedIn: /^$/ },
	{ pattern: /\bas any\b|\bas unknown as\b|@ts-ignore/, instead: "a type guard", allowedIn: /^$/ },
	{
		pattern: /\basync\b|\bawait\b/,
		instead: "a state machine stepped by its caller",
		allowedIn: /^src\/(?!(kernel|api|store|plan)\/)/,
	},
	{ pattern: /\b(FIXME|TODO)\b/, instead: "an issue number, before merge", allowedIn: /^$/ },
];

const LINES_PER_FILE_MAX = 400;

function untidy(file: string, text: string): string[] {
	const lines = text.split("\n");
	const banned = lines.flatMap((line, index) =>
		BANS.filter((ban) => ban.pattern.test(line) && !ban.allowedIn.test(file)).map(
			(ban) => `${file}:${index + 1}: ${ban.pattern.exec(line)?.[0]} is banned, use ${ban.instead}`,
		),
	);
	return lines.length > LINES_PER_FILE_MAX
		? [...banned, `${file}: ${lines.length} lines, at most ${LINES_PER_FILE_MAX}`]
		: banned;
}

describe("tidy", () => {
	test("src is tidy", () => {
		const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
			(file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
		);
		const found = files.flatMap((file) => untidy(path.join("src", file), readFileSync(path.join("src", file), "utf8")));
		expect(found).toEqual([]);
	});

	test("names the place, the sin and the cure", () => {
		expect(untidy("src/plan/x.ts", "const t = Date.now();")).toEqual([
			"src/plan/x.ts:1: Date.now( is banned, use Clock.wallMs()",
		]);
		expect(untidy("src/edge/clock.ts", "return Date.now();")).toEqual([]);
	});
});
