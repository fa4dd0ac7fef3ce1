import { describe, expect, test } from "vitest";
import type { Container } from "../../api/types/core.ts";
import { actionOf, type ProbeAction, probesOf } from "./probe-spec.ts";

const CONTAINER: Container = { name: "c", ports: [{ name: "web", containerPort: 8080 }] };

describe("probesOf()", () => {
	test("reads each probe with the API's defaults, the startup probe first", () => {
		const tcpSocket = { port: 1 };
		const probes = probesOf({
			...CONTAINER,
			livenessProbe: { tcpSocket, terminationGracePeriodSeconds: 0, timeoutSeconds: 2, initialDelaySeconds: 3 },
			readinessProbe: { tcpSocket, periodSeconds: 4, successThreshold: 5, failureThreshold: 6 },
			startupProbe: { tcpSocket },
		});
		const action = { kind: "tcp", host: "", port: 1 };
		const byDefault = {
			action,
			initialDelayMs: 0,
			periodMs: 10_000,
			timeoutMs: 1_000,
			successThreshold: 1,
			failureThreshold: 3,
			graceMs: undefined,
		};
		expect(probes).toEqual([
			{ ...byDefault, kind: "startup" },
			{ ...byDefault, kind: "readiness", periodMs: 4_000, successThreshold: 5, failureThreshold: 6 },
			{ ...byDefault, kind: "liveness", timeoutMs: 2_000, initialDelayMs: 3_000, graceMs: 0 },
		]);
	});

	test.each<{ given: Record<string, unknown>; action: ProbeAction }>([
		{
			given: { httpGet: { port: "web" } },
			action: { kind: "http", host: "", port: 8080, path: "/", scheme: "HTTP", headers: [] },
		},
		{
			given: {
				httpGet: { port: 1, path: "/x", scheme: "HTTPS", host: "h", httpHeaders: [{ name: "A", value: "b" }] },
			},
			action: { kind: "http", host: "h", port: 1, path: "/x", scheme: "HTTPS", headers: [["A", "b"]] },
		},
		{ given: { tcpSocket: { port: "90" } }, action: { kind: "tcp", host: "", port: 90 } },
		{ given: { grpc: { port: 5, service: "s" } }, action: { kind: "grpc", port: 5, service: "s" } },
		{ given: { exec: { command: ["a", "b"] } }, action: { kind: "exec", command: ["a", "b"] } },
		{ given: { tcpSocket: { port: "x" } }, action: { kind: "broken", message: 'couldn\'t find port: "x"' } },
		{ given: {}, action: { kind: "broken", message: "missing probe handler" } },
	])("reads $given", ({ given, action }) => {
		expect(actionOf(given, CONTAINER)).toEqual(action);
	});
});
