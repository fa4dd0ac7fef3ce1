import { expect, test } from "vitest";
import { isOwnName, ownPrefix } from "./namespace-names.ts";

test("names are one process' own, and known again", () => {
	expect(ownPrefix()).toBe(ownPrefix());
	expect(ownPrefix()).toMatch(new RegExp(`^sp-${process.pid}-`));
	expect(isOwnName(`${ownPrefix()}-n1`)).toBe(true);
});

test.each(["sp-12-lan", "blue", "sp-x-1-lan", "sp-1-2-lan; reboot"])("%s is none of this program's names", (name) => {
	expect(isOwnName(name)).toBe(false);
});
