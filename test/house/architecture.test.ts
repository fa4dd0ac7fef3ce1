/**
 * The house plan, executed. A room may import from rooms strictly below it, and from nothing else.
 * Type-only imports count: a type is a dependency too.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

/** Lowest first. Rooms on the same floor do not know each other. */
const FLOORS: readonly (readonly string[])[] = [
	["kernel"],
	["api"],
	["store", "plan"],
	["machinery"],
	["controllers", "kubelet", "proxy", "dns", "client", "explain", "apiserver"],
	["edge"],
	["wiring"],
	["scenario"],
	["cli", "dashboard"],
];
/** Imports every room; imported by tests, and by scenarios, which are tests that need no programming. */
const TESTING = "testing";
const USES_TESTING = new Set([TESTING, "scenario"]);
/** Rooms that may name packages and Node: real I/O, and the programs around it. */
const IO = new Set(["edge", "wiring", "scenario", "cli", "dashboard", "testing"]);

const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));

interface Import {
	readonly from: string;
	readonly to: string;
}

/** `import ... from "x"` and `export ... from "x"`, also over several lines; `import "x"`; `import("x")`. */
const IMPORT = /^(?:import|export|\})[^"\n]*\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;

function importsOf(file: string): Import[] {
	const source = readFileSync(file, "utf8");
	const specifiers = [...source.matchAll(IMPORT)].map(
		(match) => match.slice(1).find((text) => text !== undefined) ?? "",
	);
	return specifiers.map((to) => ({ from: file, to: to.startsWith(".") ? path.join(path.dirname(file), to) : to }));
}

function roomOf(file: string): string {
	return file.split(path.sep)[1] ?? "";
}

function violations(imports: readonly Import[]): string[] {
	return imports.flatMap(({ from, to }) => {
		const room = roomOf(from);
		if (!to.startsWith("src")) return IO.has(room) ? [] : [`${from}: portable room imports the package ${to}`];
		if (roomOf(to) === room) return [];
		const isTest = from.endsWith(".test.ts") || room === TESTING;
		if (roomOf(to) === TESTING) return isTest || USES_TESTING.has(room) ? [] : [`${from}: ${room} imports ${TESTING}`];
		if (isTest) return [];
		const [here, there] = [floorOf.get(room), floorOf.get(roomOf(to))];
		if (here === undefined || there === undefined)
			return [`${from}: room ${room} or ${roomOf(to)} is not on the house plan`];
		return there < here ? [] : [`${from}: ${room} (floor ${here}) imports ${roomOf(to)} (floor ${there})`];
	});
}

describe("house plan", () => {
	const files = readdirSync("src", { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".ts"))
		.map((file) => path.join("src", file));

	test("imports point down", () => {
		const imports = files.filter((file) => !file.endsWith(".test.ts")).flatMap(importsOf);
		expect(violations(imports)).toEqual([]);
	});

	test("has teeth: an upward import is reported", () => {
		expect(violations([{ from: "src/plan/x.ts", to: "src/controllers/y.ts" }])).toEqual([
			"src/plan/x.ts: plan (floor 2) imports controllers (floor 4)",
		]);
	});
});
