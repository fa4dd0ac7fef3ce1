import { describe, expect, test } from "vitest";
import { tableOf } from "../../testing/table-ports.ts";
import { healthAnswer, healthCheckPortOf } from "./health-check.ts";

describe("healthAnswer()", () => {
	test.each([
		{ rule: "200 with ready endpoints here", localReady: 2, status: 200 },
		{ rule: "503 with none", localReady: 0, status: 503 },
	] as const)("is $rule, and says how many", ({ localReady, status }) => {
		const answer = healthAnswer("demo/web", { localReady });
		expect(answer.status).toBe(status);
		expect(answer.headers).toEqual({
			"content-type": "application/json",
			"x-content-type-options": "nosniff",
			"x-load-balancing-endpoint-weight": String(localReady),
		});
		expect(answer.body).toBe(
			`{\n\t"service": {\n\t\t"namespace": "demo",\n\t\t"name": "web"\n\t},\n\t"localEndpoints": ${localReady},\n` +
				'\t"serviceProxyHealthy": true\n}',
		);
	});

	test("is 503 for a Service that is gone", () => {
		expect(healthAnswer("demo/web", undefined).status).toBe(503);
	});
});

test("healthCheckPortOf() is the one of any of the Service's ports, or 0", () => {
	expect(healthCheckPortOf(tableOf("demo/web", {}, { healthCheckNodePort: 32_000 }))).toBe(32_000);
	expect(healthCheckPortOf(tableOf("demo/web", {}))).toBe(0);
	expect(healthCheckPortOf(tableOf("demo/web"))).toBe(0);
});
