import { expect, test } from "vitest";
import { isGone, isOwnName, ownPrefix, processMark } from "./namespace-names.ts";

test("names are one process' own, and known again", () => {
	expect(ownPrefix()).toBe(ownPrefix());
	expect(ownPrefix()).toMatch(new RegExp(`^sp-${process.pid}-`));
	expect(isOwnName(`${ownPrefix()}-n1`)).toBe(true);
});

test.each(["sp-12-lan", "blue", "sp-x-1-lan", "sp-1-2-lan; reboot"])("%s is none of this program's names", (name) => {
	expect(isOwnName(name)).toBe(false);
});

test("a process is gone when it ran here and runs no more, and never when it ran elsewhere", () => {
	const mark = processMark();
	const other = mark.replace(/-[0-9a-z]+@/, "-1@");
	expect([isGone(mark), isGone(other)]).toEqual([false, true]);
	expect([isGone(other.replace(/@.*/, "@elsewhere")), isGone(""), isGone("sp-1-1")]).toEqual([false, false, false]);
});
