/** `sliceplane watch-cost svc/NAME`: what watchers of a Service's Endpoints and of its EndpointSlices receive. */

import { type Command, Option } from "commander";
import type { Received, WatchCost } from "../wiring/watch-cost.ts";
import { CLUSTER_KUBECONFIG, CONTEXT } from "./flag-rows.ts";
import { durationMs, whole } from "./flag-values.ts";
import { UsageError } from "./usage-error.ts";

interface WatchCostFlags {
	readonly namespace: string;
	readonly nodes: number;
	readonly for?: number;
	readonly output: "text" | "json";
	readonly kubeconfig?: string;
	readonly context?: string;
}

const INTERVAL_MS = 1_000;

export function addWatchCostCommand(root: Command): void {
	root
		.command("watch-cost")
		.description(
			"Show what one watcher of a Service's Endpoints and one of its EndpointSlices receive, a line a second,\n" +
				"and what that makes for a watcher on each node. Works on any cluster.",
		)
		.argument("<svc/NAME>", "the Service")
		.option("-n, --namespace <name>", "its namespace", "default")
		.addOption(new Option("--nodes <n>", "watchers to reckon with").argParser(whole(1, 1_000_000)).default(1_000))
		.addOption(new Option("--for <duration>", "stop after so long, such as 10s").argParser(durationMs))
		.addOption(new Option("-o, --output <format>", "form of the lines").choices(["text", "json"]).default("text"))
		.option(...CLUSTER_KUBECONFIG)
		.option(...CONTEXT)
		.addHelpText("after", "\nExample:\n  $ sliceplane watch-cost svc/web --nodes 5000 --for 30s\n")
		.action((target: string, flags: WatchCostFlags) => show(serviceNamed(target), flags));
}

/** @throws {UsageError} */
function serviceNamed(target: string): string {
	const [, service] = /^(?:services?|svc)\/([^/]+)$/.exec(target) ?? [];
	if (service === undefined) throw new UsageError(`${target}: want svc/NAME, such as svc/web`);
	return service;
}

async function show(service: string, flags: WatchCostFlags): Promise<void> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { watchCost } = await import("../wiring/watch-cost.ts");
	const stopping = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort(signal));
	const { namespace, nodes, output, kubeconfig, context } = flags;
	const print = (cost: WatchCost): void => {
		process.stdout.write(output === "json" ? `${JSON.stringify({ ...cost, nodes })}\n` : `${costLine(cost, nodes)}\n`);
	};
	const total = await watchCost({
		cluster: { kubeconfig, context, files: process.env["KUBECONFIG"] },
		namespace,
		service,
		intervalMs: INTERVAL_MS,
		forMs: flags.for,
		signal: stopping.signal,
		told: print,
		deleted: () => process.stderr.write(`services "${service}" was deleted\n`),
	});
	if (output === "text") process.stdout.write(`total ${costLine(total, nodes)}\n`);
}

export function costLine({ seconds, endpoints, endpointSlices }: WatchCost, nodes: number): string {
	const words = (name: string, { events, bytes }: Received): string =>
		`${name} ${events} ${events === 1 ? "event" : "events"} ${size(bytes)}, for ${nodes} nodes ${size(bytes * nodes)}`;
	return `${seconds.toFixed(1)}s  ${words("Endpoints", endpoints)}  ${words("EndpointSlices", endpointSlices)}`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function size(bytes: number): string {
	const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
	const amount = bytes / 1024 ** power;
	return `${power === 0 ? amount : amount.toFixed(1)} ${UNITS[power]}`;
}
