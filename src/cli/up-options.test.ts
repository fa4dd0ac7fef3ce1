import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLANE_OPTIONS } from "../wiring/plane-options.ts";
import { durationMs } from "./flag-values.ts";
import { addUpOptions, planeOptionsOf, type UpFlags } from "./up-options.ts";

function optionsOf(...args: readonly string[]): ReturnType<typeof planeOptionsOf> {
	const up = new Command("up").exitOverride().configureOutput({ writeErr: () => undefined });
	addUpOptions(up);
	up.parse([...args], { from: "user" });
	return planeOptionsOf(up.opts<UpFlags>(), DEFAULT_PLANE_OPTIONS.kubeconfig);
}

describe("the flags of up", () => {
	test("have the defaults that a plane has without them", () => {
		const { cacheFolder, ...options } = optionsOf();
		expect(options).toEqual(DEFAULT_PLANE_OPTIONS);
		expect(cacheFolder).toContain("sliceplane");
	});

	test.each([
		{ args: ["--listen", "[::1]:0"], is: { listen: { host: "::1", port: 0 } } },
		{ args: ["--listen", ":80"], is: { listen: { host: "127.0.0.1", port: 80 } } },
		{ args: ["--zones", "a, b_1,Z.z"], is: { zones: ["a", "b_1", "Z.z"] } },
		{ args: ["--node-monitor-grace-period", "1.5m"], is: { nodeMonitorGracePeriodMs: 90_000 } },
		{ args: ["--endpointslice-updates-batch-period", "1s"], is: { endpointSliceUpdatesBatchPeriodMs: 1_000 } },
		{ args: ["--endpoint-updates-batch-period", "500ms"], is: { endpointUpdatesBatchPeriodMs: 500 } },
		{
			args: ["--mirroring-endpointslice-updates-batch-period", "2s"],
			is: { mirroringEndpointSliceUpdatesBatchPeriodMs: 2_000 },
		},
		{ args: ["--concurrent-endpoint-syncs", "7"], is: { concurrentEndpointSyncs: 7 } },
		{
			args: ["--mirroring-concurrent-service-endpoint-syncs", "50"],
			is: { mirroringConcurrentServiceEndpointSyncs: 50 },
		},
		{
			args: ["--etcd-servers", "http://a:1, http://b:2", "--etcd-prefix", "/x", "--etcd-compaction-interval", "0"],
			is: { etcd: { servers: ["http://a:1", "http://b:2"], prefix: "/x", compactionIntervalMs: 0 } },
		},
		{
			args: ["--etcd-servers", "https://a:1", "--etcd-cafile", "/ca.pem"],
			is: { etcd: { prefix: "/registry", compactionIntervalMs: 300_000, caFile: "/ca.pem", certFile: undefined } },
		},
		{ args: ["--controllers", "*,-scheduler"], is: { controllers: ["*", "-scheduler"] } },
	])("$args are read", ({ args, is }) => {
		expect(optionsOf(...args)).toMatchObject(is);
	});

	test.each([
		{ args: ["--zones", "a,A_B!"] },
		{ args: ["--zones", "-a"] },
		{ args: ["--zones", "a".repeat(64)] },
		{ args: ["--listen", "127.0.0.1:70000"] },
		{ args: ["--service-node-port-range", "2-1"] },
		{ args: ["--network", "tun"] },
		{ args: ["--nodes", "1e3"] },
		{ args: ["--as-node", ""] },
		{ args: ["--etcd-compaction-interval", "10ms"] },
		{ args: ["--endpointslice-updates-batch-period", "-1s"] },
		{ args: ["--endpoint-updates-batch-period", "-1s"] },
		{ args: ["--mirroring-endpointslice-updates-batch-period", "-500ms"] },
		{ args: ["--concurrent-endpoint-syncs", "0"] },
		{ args: ["--mirroring-concurrent-service-endpoint-syncs", "51"] },
	])("$args is refused, and the flag named", ({ args }) => {
		expect(() => optionsOf(...args)).toThrow(`option '${args[0]} <`);
	});
});

test.each([
	["0", 0],
	["250us", 0.25],
	["500ms", 500],
	["1.5s", 1_500],
	["1h1m1s", 3_661_000],
])("takes the duration %s as Go writes it", (text, ms) => {
	expect(durationMs(text)).toBe(ms);
});

test.each(["", "5", "1x", "-1s", "1m 30s", "s", "1e3s"])("refuses the duration %j", (text) => {
	expect(() => durationMs(text)).toThrow("Want a duration, such as 500ms, 2s or 1m30s.");
});
