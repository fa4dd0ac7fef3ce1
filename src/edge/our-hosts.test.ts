import { describe, expect, test } from "vitest";
import { requireOurHost } from "./our-hosts.ts";

const names = new Set(["localhost", "kubernetes.default.svc"]);

describe("requireOurHost()", () => {
	test.each([
		undefined,
		"127.0.0.1",
		"127.0.0.1:6443",
		"192.0.2.7:6443",
		"[::1]:6443",
		"[2001:db8::1]",
		"localhost:6443",
		"LOCALHOST",
		"kubernetes.default.svc.:443",
	])("lets %s in", (host) => {
		expect(() => requireOurHost(host, names)).not.toThrow();
	});

	test.each(["example.com", "localhost.example.com:6443", "127.0.0.1.example.com", "", ":6443", "[::1", "kubernetes"])(
		"sends %j away",
		(host) => {
			expect(() => requireOurHost(host, names)).toThrow("is none of this server's: ask by its address, or localhost");
		},
	);
});
