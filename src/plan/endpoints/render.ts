/** Plans of Endpoints as text, for people and golden files. */
import type { EndpointSubset, Endpoints } from "../../api/types/core.ts";
import type { Draft, StringMap } from "../../api/types/meta.ts";
import { abridged } from "../abridged.ts";
import type { EndpointsPlan } from "./plan-endpoints.ts";

/**
 * The write, and below it the metadata that matter and a line for each subset. Nothing to write is an empty text.
 *
 * @param shownMax Of a longer list of addresses only the first, the last and their number are shown. Default: all are.
 */
export function renderEndpointsPlan(plan: EndpointsPlan, shownMax: number = Number.POSITIVE_INFINITY): string {
	switch (plan.kind) {
		case "none":
			return "";
		case "delete":
			return "delete";
		default:
			return [`${plan.kind} ${plan.endpoints.metadata.name}`, ...renderedContents(plan.endpoints, shownMax)].join("\n");
	}
}

function renderedContents({ metadata, subsets = [] }: Draft<Endpoints>, shownMax: number): readonly string[] {
	return [
		...renderedMap("labels", metadata.labels),
		...renderedMap("annotations", metadata.annotations),
		...subsets.map((subset) => renderedSubset(subset, shownMax)),
	];
}

function renderedMap(what: string, map: StringMap = {}): readonly string[] {
	const entries = Object.entries(map);
	return entries.length === 0 ? [] : [`  ${what} ${entries.map(([key, value]) => `${key}=${value}`).join(" ")}`];
}

function renderedSubset({ addresses, notReadyAddresses, ports = [] }: EndpointSubset, shownMax: number): string {
	const ready = (addresses ?? []).map(({ ip }) => ip);
	const notReady = (notReadyAddresses ?? []).map(({ ip }) => ip);
	const offered = ports.map(({ name = "", port, protocol = "TCP" }) => `${name}:${port}/${protocol}`);
	return (
		`  subset [${offered.join(" ")}] ready [${abridged(ready, shownMax)}]` +
		(notReady.length === 0 ? "" : ` not ready [${abridged(notReady, shownMax)}]`)
	);
}
