import { describe, expect, test } from "vitest";
import type { IntOrString } from "../../api/types/meta.ts";
import { deployment } from "../../testing/workloads.ts";
import { rollingNumbers } from "./rolling-numbers.ts";

interface Row {
	readonly rule: string;
	readonly replicas: number;
	readonly surge: IntOrString;
	readonly unavailable: IntOrString;
	readonly expected: readonly [surge: number, unavailable: number];
}

const ROWS: readonly Row[] = [
	{ rule: "surge rounds up, unavailable down", replicas: 205, surge: "25%", unavailable: "25%", expected: [52, 51] },
	{ rule: "the same of one Pod", replicas: 1, surge: "25%", unavailable: "25%", expected: [1, 0] },
	{ rule: "numbers are taken as they are", replicas: 10, surge: 3, unavailable: 2, expected: [3, 2] },
	{ rule: "both 0 would never move", replicas: 3, surge: 0, unavailable: 0, expected: [0, 1] },
	{ rule: "both 0 after rounding as well", replicas: 3, surge: "0%", unavailable: "25%", expected: [0, 1] },
	{ rule: "no more is unavailable than there are", replicas: 3, surge: 1, unavailable: 5, expected: [1, 3] },
	{ rule: "of no Pods none is unavailable", replicas: 0, surge: 3, unavailable: 2, expected: [3, 0] },
];

describe("rollingNumbers", () => {
	test.each(ROWS)("$rule", ({ replicas, surge, unavailable, expected }) => {
		const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
		const numbers = rollingNumbers(deployment({ replicas, strategy: { type: "RollingUpdate", rollingUpdate } }));
		expect([numbers.maxSurge, numbers.maxUnavailable]).toEqual(expected);
	});

	test("takes 25% where nothing is said", () => {
		expect(rollingNumbers(deployment({ replicas: 8, strategy: {} }))).toMatchObject({ maxSurge: 2, maxUnavailable: 2 });
	});

	test("lets Recreate count as available only when every Pod is", () => {
		const numbers = rollingNumbers(deployment({ replicas: 4, strategy: { type: "Recreate" } }));
		expect(numbers).toEqual({ replicas: 4, maxSurge: 0, maxUnavailable: 0 });
	});
});
