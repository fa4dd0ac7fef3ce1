import { expect, test } from "vitest";
import { repeated } from "./repeat.ts";

test.each([
	["w-{i}", ["w-0", "w-1", "w-2"]],
	["10.{1+i/2}.0.{i%2+1}", ["10.1.0.1", "10.1.0.2", "10.2.0.1"]],
	["{(i+1)*2-1} {x}", ["1 {x}", "3 {x}", "5 {x}"]],
])("%s counts from 0, in integers", (name, names) => {
	expect(repeated({ count: 3, name }).map((object) => object.name)).toEqual(names);
});

test("puts the number into every text, however deep, and into keys", () => {
	expect(repeated({ count: 1, name: "a", labels: { "k{i}": "v{i}" }, ips: ["::{i}"], ready: true })).toEqual([
		{ name: "a", labels: { k0: "v0" }, ips: ["::0"], ready: true },
	]);
});

test.each(["{i+}", "{(i}", "{i/0}", "{i i}"])("refuses %s", (name) => {
	expect(() => repeated({ count: 1, name })).toThrow("want integer arithmetic over i");
});
