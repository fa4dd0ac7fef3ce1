import { expect, test } from "vitest";
import { parseScenario } from "./format/scenario-file.ts";
import { usesProxies } from "./uses.ts";

const ASKED = '{proxy: [{node: n1, dst: "10.96.0.1:80/TCP", action: drop}]}';
const OTHER = "{retrying: {web: false}}";

test.each([
	["expects something of one", "[]", ASKED, true],
	["checks one on the way", `[{check: ${ASKED}}]`, OTHER, true],
	["checks one for each value", `[{for_each: {value: [a], create: {}, check: ${ASKED}}}]`, OTHER, true],
	["syncs one", "[{proxy_sync: {node: n1}}]", OTHER, true],
	["saves the rules of one", "[{save: {as: r, ruleset: {node: n1}}}]", "{saved: {r: unchanged}}", true],
	["restarts one", "[{restart: {component: proxy, node: n1}}]", OTHER, true],
	["looks at no proxy", `[{check: ${OTHER}}]`, OTHER, false],
])("a scenario that %s: %#", (_, steps, expected, uses) => {
	const parsed = parseScenario(`title: t\ngiven: {}\nsteps: ${steps}\nexpect: ${expected}\n`);
	expect(parsed.kind === "scenario" && usesProxies(parsed.scenario)).toBe(uses);
});
