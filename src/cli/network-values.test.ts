import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { interfaceName, periodMs, ranges, rangesOrPrimary } from "./network-values.ts";
import { addProxyCommand } from "./proxy.ts";

const INJECTION = 'x"; flush ruleset; #';
const wrong: readonly (readonly [string, (value: string) => unknown, string])[] = [
	["no range", ranges, "10.244.0.0"],
	["a word", ranges, "10.244.0.0/16,pods"],
	["a rule", ranges, "10.0.0.0/8 accept"],
	["a range in another", ranges, "10.0.0.0/8,10.244.0.0/16"],
	["primary among ranges", rangesOrPrimary, "primary,192.168.0.0/16"],
	["another word", rangesOrPrimary, "all"],
	["a rule in a name", interfaceName, INJECTION],
	["an empty name", interfaceName, ""],
	["a name too long", interfaceName, "a".repeat(16)],
	["a period without a pause", periodMs, "0"],
	["a period too short", periodMs, "999ms"],
];

describe("values that become part of rules", () => {
	test.each(wrong)("%s is refused", (_, read, value) => {
		expect(() => read(value)).toThrow(/^Want /);
	});

	test("ranges of both families, primary, names of interfaces and periods are taken", () => {
		expect(ranges("10.244.0.0/16, fd00:244::/56")).toEqual(["10.244.0.0/16", "fd00:244::/56"]);
		expect([ranges(""), rangesOrPrimary("primary"), rangesOrPrimary("192.168.0.0/16")]).toEqual([
			[],
			["primary"],
			["192.168.0.0/16"],
		]);
		expect([interfaceName("br-0.1"), periodMs("1s")]).toEqual(["br-0.1", 1_000]);
	});

	test.each([
		["--cluster-cidr", "x"],
		["--service-cluster-ip-range", "x"],
		["--nodeport-addresses", "x"],
		["--pod-bridge-interface", INJECTION],
		["--pod-interface-name-prefix", INJECTION],
		["--sync-period", "0"],
	])("proxy refuses %s %s", async (flag, value) => {
		const root = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
		addProxyCommand(root, () => undefined);
		for (const command of root.commands) command.exitOverride().configureOutput({ writeErr: () => undefined });
		await expect(root.parseAsync(["proxy", flag, value], { from: "user" })).rejects.toThrow(/Want /);
	});
});
