import { expect, test } from "vitest";
import { ApiError } from "../../api/status.ts";
import { apiErrorOf, EtcdError } from "./etcd-error.ts";

/** gRPC's numbers. */
const [INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE] = [3, 4, 8, 14];

test.each([
	[
		new EtcdError(INVALID_ARGUMENT, "etcdserver: request is too large", true),
		500,
		"",
		"etcdserver: request is too large",
	],
	[
		new EtcdError(RESOURCE_EXHAUSTED, "grpc: received message larger than max (9 vs. 2)", true),
		500,
		"",
		"etcdserver: request is too large",
	],
	[new EtcdError(UNAVAILABLE, "etcdserver: request timed out", true), 500, "", "etcdserver: request timed out"],
	[
		new EtcdError(UNAVAILABLE, "Connection dropped", true),
		500,
		"",
		"rpc error: code = Unavailable desc = Connection dropped",
	],
	[
		new EtcdError(DEADLINE_EXCEEDED, "x", true),
		504,
		"Timeout",
		"Timeout: request did not complete within requested timeout - context deadline exceeded",
	],
	[new EtcdError(UNAVAILABLE, "etcd cannot be reached", false), 503, "ServiceUnavailable", "etcd cannot be reached"],
] as const)("%s is what a real server makes of it", (error, code, reason, message) => {
	expect(apiErrorOf(error)).toMatchObject({ code, reason, message });
});

test("what is no error of etcd stays what it is", () => {
	const error = new ApiError("Timeout", "x");
	expect(apiErrorOf(error)).toBe(error);
});
