import { expect, test } from "vitest";
import { DEFAULT_PLANE_OPTIONS } from "./plane-options.ts";

test("listens on loopback only, unless told otherwise", () => {
	const { listen, gatewayListen, dnsListen, podListeners } = DEFAULT_PLANE_OPTIONS;
	expect([listen.host, gatewayListen.host, dnsListen, podListeners]).toEqual([
		"127.0.0.1",
		"127.0.0.1",
		undefined,
		false,
	]);
});
