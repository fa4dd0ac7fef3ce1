/** What must hold of a plane's options together, checked before anything is started. */
import { contains, networkOf, parseCIDR } from "../api/ip.ts";
import { simulatedNodes } from "../kubelet/node-pool.ts";
import { selectedControllers } from "./controller-selection.ts";
import { networkRanges } from "./network-ranges.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "./plane-options.ts";
import { CONTROLLER_NAMES } from "./start-controllers.ts";
import { VERSION } from "./version.ts";

/** @throws {RangeError} When options cannot go together; the message names the flag. */
export function checkOptions(options: Omit<PlaneOptions, "cacheFolder">): void {
	networkRanges(options);
	const nodes = simulatedNodes({ ...options, kubeletVersion: VERSION.api.gitVersion });
	const { asNode } = options;
	if (asNode !== "" && !nodes.some(({ name }) => name === asNode)) {
		throw new RangeError(
			`--as-node ${asNode}: no such node; there are ${nodes.length}: ${nodes
				.map(({ name }) => name)
				.slice(0, 3)
				.join(", ")} ...`,
		);
	}
	selectedControllers(CONTROLLER_NAMES, options.controllers);
	if (options.network === "none") refuseTraffic(options);
	if (options.podListeners) requireListenable(options);
}

/** What is not the default was asked for. */
function refuseTraffic(options: Omit<PlaneOptions, "cacheFolder">): void {
	const { host, port } = DEFAULT_PLANE_OPTIONS.gatewayListen;
	const { gatewayListen, dnsListen, asNode, logDecisions, podListeners } = options;
	const asked = [
		["--gateway-listen", gatewayListen.host !== host || gatewayListen.port !== port],
		["--as-node", asNode !== ""],
		["--log-decisions", logDecisions],
		["--pod-listeners", podListeners],
		["--dns-listen", dnsListen !== undefined],
	] as const;
	const [flag] = asked.find(([, isAsked]) => isAsked) ?? [];
	if (flag === undefined) return;
	throw new RangeError(`${flag} and --network none: nothing answers without a network; leave one of the two out`);
}

/** Of a Pod 10.a.b.c, 127.a.b.c is the stand-in. */
const LISTENABLE = parseCIDR("10.0.0.0/8");

function requireListenable({ clusterCIDRs }: Omit<PlaneOptions, "cacheFolder">): void {
	const isListenable = clusterCIDRs.some((text) => {
		const range = parseCIDR(text);
		if (range === undefined || LISTENABLE === undefined) return false;
		return contains(LISTENABLE, networkOf(range)) && range.prefixLength >= LISTENABLE.prefixLength;
	});
	if (isListenable) return;
	throw new RangeError(
		`--pod-listeners and --cluster-cidr ${clusterCIDRs.join()}: only Pods 10.a.b.c have a 127.a.b.c to listen at; ` +
			"take a range in 10.0.0.0/8",
	);
}
