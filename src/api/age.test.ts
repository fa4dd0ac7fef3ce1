import { expect, test } from "vitest";
import { age, shortDuration } from "./age.ts";

const [M, H, D, Y] = [60, 3600, 86_400, 365 * 86_400];

test.each([
	{ seconds: -2, text: "<invalid>" },
	{ seconds: -1, text: "0s" },
	{ seconds: 0, text: "0s" },
	{ seconds: 119.9, text: "119s" },
	{ seconds: 120, text: "2m" },
	{ seconds: 121, text: "2m1s" },
	{ seconds: 10 * M - 1, text: "9m59s" },
	{ seconds: 601, text: "10m" },
	{ seconds: 3 * H - 1, text: "179m" },
	{ seconds: 3 * H, text: "3h" },
	{ seconds: 3 * H + M, text: "3h1m" },
	{ seconds: 8 * H + M, text: "8h" },
	{ seconds: 48 * H - 1, text: "47h" },
	{ seconds: 48 * H, text: "2d" },
	{ seconds: 2 * D + H, text: "2d1h" },
	{ seconds: 8 * D + H, text: "8d" },
	{ seconds: 2 * Y - 1, text: "729d" },
	{ seconds: 2 * Y + D, text: "2y1d" },
	{ seconds: 8 * Y + D, text: "8y" },
])("$seconds s is $text", ({ seconds, text }) => {
	expect(shortDuration(seconds * 1000)).toBe(text);
});

test("age() counts from a timestamp, and knows when there is none", () => {
	expect(age(Date.parse("2026-01-01T00:00:05Z"), "2026-01-01T00:00:00Z")).toBe("5s");
	expect(age(0, undefined)).toBe("<unknown>");
	expect(age(0, null)).toBe("<unknown>");
});
