import { describe, expect, test } from "vitest";
import { required } from "./field-error.ts";
import { invalidObject } from "./status.ts";

const SERVICE = { group: "", kind: "Service" };
const errors = (count: number) =>
	Array.from({ length: count }, (_, index) => required(`spec.ports[${index}].name`, ""));

describe("invalidObject()", () => {
	test("tells every error, in the message and as a cause", () => {
		const { message, details } = invalidObject(SERVICE, "web", errors(2));
		expect(message).toBe(
			'Service "web" is invalid: [spec.ports[0].name: Required value, spec.ports[1].name: Required value]',
		);
		expect(details?.causes).toHaveLength(2);
	});

	test("of many tells the first, and how many more there are", () => {
		const { message, details } = invalidObject(SERVICE, "web", errors(20_000));
		expect(message).toMatch(/spec\.ports\[499\]\.name: Required value, 19500 more\]$/);
		expect(details?.causes).toHaveLength(500);
	});
});
