/**
 * Decides the addresses and node ports of a Service that is written.
 *
 * Pure: the answer says what to claim and what to release, and the API server puts each claim into
 * the same commit as the Service. Two Services that choose one address at the same time therefore
 * conflict in the store, and one of them is planned again.
 *
 *     create or update -> carry over what old clients dropped -> families -> addresses -> node ports
 *       -> clear what the new type has no use for -> (the caller) validate
 */
import { normaliseClusterIPs, withCarriedOver } from "./service-network/carry-over.ts";
import { heldIPs, withClusterIPs } from "./service-network/cluster-ips.ts";
import { withFamilies } from "./service-network/families.ts";
import { heldNodePorts, withNodePorts } from "./service-network/node-ports.ts";
import type { Holdings, Refusal, ServiceNetworkInput, Step } from "./service-network/plan.ts";
import { withoutStaleFields } from "./service-network/wipe.ts";
import type { Service } from "./types/core.ts";

export type ServiceNetworkPlan =
	| { readonly kind: "ok"; readonly service: Service; readonly claims: Holdings; readonly releases: Holdings }
	| Refusal;

export function planServiceNetwork(input: ServiceNetworkInput): ServiceNetworkPlan {
	const { stored } = input;
	const carried = stored === undefined ? input.service : withCarriedOver(input.service, stored);
	const service = normaliseClusterIPs(carried, stored);
	const configured = input.ranges.map((range) => range.base.family);
	const families = withFamilies({ service, stored, configured });
	const addresses = then(families, (next) => withClusterIPs({ ...input, service: next }));
	const ports = then(addresses, (next) => withNodePorts({ ...input, service: next }));
	if (ports.kind !== "ok") return ports;
	const final = stored === undefined ? ports.service : withoutStaleFields(ports.service, stored);
	return { kind: "ok", service: final, ...changesOf(holdingsOf(final), holdingsOf(stored)) };
}

function then(step: Step, next: (service: Service) => Step): Step {
	return step.kind === "ok" ? next(step.service) : step;
}

/** What a Service holds while it lives: what deleting it releases. */
export function holdingsOf(service: Service | undefined): Holdings {
	return service === undefined
		? { ips: [], nodePorts: [] }
		: { ips: [...new Set(heldIPs(service))], nodePorts: heldNodePorts(service) };
}

function changesOf(next: Holdings, stored: Holdings): { readonly claims: Holdings; readonly releases: Holdings } {
	return { claims: difference(next, stored), releases: difference(stored, next) };
}

function difference(a: Holdings, b: Holdings): Holdings {
	return {
		ips: a.ips.filter((ip) => !b.ips.includes(ip)),
		nodePorts: a.nodePorts.filter((port) => !b.nodePorts.includes(port)),
	};
}
