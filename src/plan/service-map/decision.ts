/** One connection's way, as a line of the log: who asked for what, where it went, and why there. */
import type { Asked, Client, Route } from "./node-rules.ts";
import type { Target } from "./service-table.ts";
import { endpointText } from "./slice-endpoints.ts";

/** Why this endpoint and not another one of those that the connection may go to. */
export type ChosenBy = "round robin" | "ClientIP" | "the only one";

export interface Decision {
	/** The node whose view it was; "" for none. */
	readonly node: string;
	readonly asked: Asked;
	readonly client: Client;
	readonly route: Route;
	readonly chosen?: { readonly target: Target; readonly by: ChosenBy };
	/** Endpoints that were chosen before and did not answer. */
	readonly failed: readonly { readonly target: Target; readonly message: string }[];
}

/** Skipped endpoints that a line names; a Service may have thousands. */
const SKIPPED_MAX = 10;

export function decisionFields({ node, asked, client, route, chosen, failed }: Decision): Record<string, unknown> {
	return {
		...(node === "" ? {} : { node }),
		client: client.ip,
		clientPlace: client.place,
		asked: `${endpointText(asked)}/${asked.protocol}`,
		...serviceFields(route),
		verdict: route.kind === "absent" ? "direct" : route.kind,
		...(route.kind === "forward" ? {} : { reason: route.why }),
		...(chosen === undefined ? {} : endpointFields(chosen)),
		...(route.kind === "forward" && chosen === undefined ? { reason: "no endpoint answered" } : {}),
		...(failed.length === 0
			? {}
			: { failed: failed.map(({ target, message }) => `${endpointText(target)}: ${message}`) }),
	};
}

function endpointFields({ target, by }: NonNullable<Decision["chosen"]>): Record<string, unknown> {
	const { podKey, nodeName } = target;
	return {
		endpoint: endpointText(target),
		...(podKey === undefined ? {} : { pod: podKey }),
		...(nodeName === undefined ? {} : { endpointNode: nodeName }),
		by,
	};
}

function serviceFields(route: Route): Record<string, unknown> {
	if (route.port === undefined) return {};
	const { serviceKey, destination, port } = route;
	const { name, hints, skipped, isInternalLocal, isExternalLocal } = port;
	const isLocal = destination === "cluster-ip" ? isInternalLocal : isExternalLocal;
	return {
		service: serviceKey,
		...(name === "" ? {} : { port: name }),
		destination,
		...(isLocal ? { policy: "Local" } : {}),
		candidates: route.kind === "forward" ? route.targets.length : 0,
		hints: hints.mode,
		...(hints.ignored === undefined ? {} : { hintsIgnored: hints.ignored }),
		...(skipped.length === 0
			? {}
			: { skipped: skipped.slice(0, SKIPPED_MAX).map((each) => `${endpointText(each)}: ${each.why}`) }),
		...(skipped.length > SKIPPED_MAX ? { skippedMore: skipped.length - SKIPPED_MAX } : {}),
	};
}
