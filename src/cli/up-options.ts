/** The flags of `up`: their words, their checks, and what they mean to the plane. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { cacheFolder } from "../edge/cache-folder.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "../wiring/plane-options.ts";
import { UsageError } from "./usage-error.ts";

/** As commander gives them: one key per flag. */
export interface UpFlags {
	readonly filename?: readonly string[];
	readonly listen: PlaneOptions["listen"];
	readonly kubeconfig: string;
	readonly nodes: number;
	readonly zones: readonly string[];
	readonly maxPods: number;
	readonly clusterCidr: readonly string[];
	readonly nodeCidrMaskSize: number;
	readonly serviceClusterIpRange: readonly string[];
	readonly serviceNodePortRange: PlaneOptions["nodePortRange"];
	readonly maxEndpointsPerSlice: number;
	readonly concurrentServiceEndpointSyncs: number;
	readonly endpointsliceUpdatesBatchPeriod: number;
	readonly mirroringMaxEndpointsPerSubset: number;
	readonly nodeMonitorGracePeriod: number;
	readonly controllers: readonly string[];
	readonly network: string;
	readonly verbose?: boolean;
	readonly [notBuilt: string]: unknown;
}

/** Flags of parts that this version does not have: refused rather than ignored. */
const NOT_BUILT_FLAGS = [
	"--data-dir <dir>",
	"--etcd-servers <urls>",
	"--dns-listen <host:port>",
	"--cluster-domain <domain>",
	"--pod-listeners",
	"--as-node <node>",
] as const;

export function addUpOptions(up: Command): void {
	const { nodePortRange } = DEFAULT_PLANE_OPTIONS;
	up.option("-f, --filename <file>", "manifest to apply when the plane is up; - is stdin; may be repeated", collect)
		.option(
			"--listen <host:port>",
			"address of the API; port 0 takes any free one",
			hostAndPort,
			DEFAULT_PLANE_OPTIONS.listen,
		)
		.option("--kubeconfig <path>", "where the kubeconfig is written", DEFAULT_PLANE_OPTIONS.kubeconfig)
		.option("--nodes <n>", "simulated nodes, named n1 to nN", whole(0, 10_000), DEFAULT_PLANE_OPTIONS.nodes)
		.option("--zones <a,b,c>", "zones, spread over the nodes", list, DEFAULT_PLANE_OPTIONS.zones)
		.option("--max-pods <n>", "pods that fit on one node", whole(1, 10_000), DEFAULT_PLANE_OPTIONS.maxPods)
		.option("--cluster-cidr <v4[,v6]>", "range of pod addresses", list, DEFAULT_PLANE_OPTIONS.clusterCIDRs)
		.option("--node-cidr-mask-size <n>", "bits of a node's part of the IPv4 range", whole(1, 32), 24)
		.option("--service-cluster-ip-range <v4[,v6]>", "range of cluster IPs", list, DEFAULT_PLANE_OPTIONS.serviceCIDRs)
		.option("--service-node-port-range <from-to>", "range of node ports", portRange, nodePortRange)
		.option("--max-endpoints-per-slice <n>", "endpoints in one EndpointSlice", whole(1, 1000), 100)
		.option("--concurrent-service-endpoint-syncs <n>", "Services that are synced at once", whole(1, 50), 5)
		.option("--endpointslice-updates-batch-period <duration>", "wait after a pod changed, such as 500ms", durationMs, 0)
		.option("--mirroring-max-endpoints-per-subset <n>", "addresses mirrored from one subset", whole(1, 1000), 1000)
		.option("--node-monitor-grace-period <duration>", "silence after which a node is lost", graceMs, 50_000)
		.option("--controllers <list>", "controllers to run: '*', and -name to leave one out", list, ["*"])
		.option("--network <mode>", "none, or userspace: pods and node ports answer on this machine", "userspace")
		.option("--no-dashboard", "start without the dashboard")
		.option("-v, --verbose", "log every decision");
	for (const flag of NOT_BUILT_FLAGS) up.addOption(new Option(flag).hideHelp());
}

/** @throws {UsageError} For a flag of a part that is not built, and for values that cannot go together. */
export function planeOptionsOf(flags: UpFlags): PlaneOptions {
	for (const flag of NOT_BUILT_FLAGS) {
		const option = new Option(flag);
		if (flags[option.attributeName()] !== undefined) throw new UsageError(`${option.long}: not built yet`);
	}
	return {
		listen: flags.listen,
		kubeconfig: flags.kubeconfig,
		cacheFolder: cacheFolder(),
		nodes: flags.nodes,
		zones: flags.zones,
		maxPods: flags.maxPods,
		clusterCIDRs: flags.clusterCidr,
		nodeCIDRMaskSizes: [flags.nodeCidrMaskSize, 64],
		serviceCIDRs: flags.serviceClusterIpRange,
		nodePortRange: flags.serviceNodePortRange,
		maxEndpointsPerSlice: flags.maxEndpointsPerSlice,
		concurrentServiceEndpointSyncs: flags.concurrentServiceEndpointSyncs,
		endpointSliceUpdatesBatchPeriodMs: flags.endpointsliceUpdatesBatchPeriod,
		mirroringMaxEndpointsPerSubset: flags.mirroringMaxEndpointsPerSubset,
		nodeMonitorGracePeriodMs: flags.nodeMonitorGracePeriod,
		controllers: flags.controllers,
		network: networkOf(flags.network),
		logLevel: flags.verbose === true ? "debug" : "warn",
	};
}

function networkOf(mode: string): PlaneOptions["network"] {
	if (mode === "none" || mode === "userspace") return mode;
	if (mode === "netns") throw new UsageError("--network netns: not built yet");
	throw new UsageError(`--network ${mode}: want none, userspace or netns`);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
	return [...before, value];
}

function list(value: string): readonly string[] {
	return value
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

function whole(min: number, max: number): (value: string) => number {
	return (value) => {
		const number = Number(value);
		if (/^\d+$/.test(value) && number >= min && number <= max) return number;
		throw new InvalidArgumentError(`Want a whole number from ${min} to ${max}.`);
	};
}

function hostAndPort(value: string): PlaneOptions["listen"] {
	const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(value) ?? [];
	if (port === undefined || Number(port) > 65_535) {
		throw new InvalidArgumentError("Want HOST:PORT, such as 127.0.0.1:6443 or [::1]:0.");
	}
	return { host: bracketed ?? (plain === undefined || plain === "" ? "127.0.0.1" : plain), port: Number(port) };
}

function portRange(value: string): PlaneOptions["nodePortRange"] {
	const [, from = "", to = ""] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? [];
	const range = { from: Number(from), to: Number(to) };
	if (from !== "" && range.from >= 1 && range.from <= range.to && range.to <= 65_535) return range;
	throw new InvalidArgumentError("Want FROM-TO, such as 30000-32767.");
}

/** Shorter than this, and the machine's own pauses would look like lost nodes. */
const GRACE_MS_MIN = 1_000;

function graceMs(value: string): number {
	const ms = durationMs(value);
	if (ms < GRACE_MS_MIN) throw new InvalidArgumentError("Want a duration of at least 1s, such as 50s.");
	return ms;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function durationMs(value: string): number {
	if (value === "0") return 0;
	const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(value) ?? [];
	if (amount === undefined) throw new InvalidArgumentError("Want a duration, such as 500ms or 2s.");
	return Number(amount) * (UNIT_MS[unit] ?? 0);
}
