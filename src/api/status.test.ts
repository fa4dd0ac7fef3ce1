import { describe, expect, test } from "vitest";
import { invalid, notSupported, required } from "./field-error.ts";
import { ApiError, invalidObject } from "./status.ts";

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

	test("of many tells the first, and that there are more", () => {
		const { message, details } = invalidObject(SERVICE, "web", errors(20_000));
		expect(message).toMatch(/spec\.ports\[499\]\.name: Required value, and more\]$/);
		expect(details?.causes).toHaveLength(500);
	});
});

describe("a Status is no longer than somebody reads", () => {
	const sizeOf = (error: ApiError): number => JSON.stringify(error.status()).length;
	const list = Array.from({ length: 5_000 }, (_, index) => ({ name: `owner-${index}`, uid: `${index}` }));

	test("when each of many errors quotes the whole list", () => {
		const error = invalidObject(
			SERVICE,
			"web",
			list.map(() => invalid("metadata.ownerReferences", list, "only one")),
		);
		expect(error.message).toMatch(
			/^Service "web" is invalid: \[metadata.ownerReferences: Invalid value: \[{"name":"owner-0"/,
		);
		expect(error.message).toContain("...: only one, and more]");
		expect(sizeOf(error)).toBeLessThan(300_000);
	});

	test("when an error has a long path, detail or list of what is supported", () => {
		const long = "x".repeat(1_000_000);
		const errors = [
			required(`spec[${long}]`, long),
			notSupported("type", long, Array(1_000).fill(long.slice(0, 2_000))),
		];
		expect(sizeOf(invalidObject(SERVICE, "web", errors))).toBeLessThan(50_000);
	});

	test("whatever made it", () => {
		const causes = Array.from({ length: 5_000 }, (_, index) => ({
			message: `cause ${index}`.repeat(20),
			field: "spec",
		}));
		const error = new ApiError("Forbidden", "why ".repeat(1_000_000), { details: { kind: "pods", causes } });
		expect(error.message).toMatch(/ why\.\.\.|why \.\.\. \(4000000 characters\)$/);
		expect(error.details?.causes?.[0]).toEqual(causes[0]);
		expect(sizeOf(error)).toBeLessThan(200_000);
	});
});
