/** What users do with Endpoints and EndpointSlices, their own and those that controllers keep. */
import { keyOf } from "../../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../api/resource-names.ts";
import type { Endpoints } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft } from "../../api/types/meta.ts";
import { SERVICE_NAME_LABEL, SKIP_MIRROR_LABEL, SLICE_MANAGED_BY_LABEL } from "../../api/well-known.ts";
import { SERVICE_NAMES, type User } from "./user.ts";

const IPS = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2"];

function subsets({ dice }: User): Endpoints["subsets"] {
	return Array.from({ length: dice.below(3) }, (_, index) => {
		const addresses = IPS.filter(() => dice.chance(0.5)).map((ip) => ({ ip }));
		// An address of two subsets gets the ports of both, whose names must differ.
		const port = { name: `p${index}`, port: dice.of([80, 81]) + index * 10 };
		if (addresses.length === 0) return { addresses: [{ ip: "192.0.2.9" }], ports: [port] };
		return dice.chance(0.8) ? { addresses, ports: [port] } : { notReadyAddresses: addresses, ports: [port] };
	});
}

export async function changeEndpoints(user: User): Promise<void> {
	const { dice } = user;
	const known = user.any(ENDPOINTS);
	if (known === undefined || dice.chance(0.4)) return createEndpoints(user);
	user.ports.tampering.editsEndpoints(known);
	const roll = dice.below(10);
	if (roll < 3) await user.delete(ENDPOINTS, known);
	else if (roll < 5) {
		await user.patch(ENDPOINTS, known, { metadata: { labels: { [SKIP_MIRROR_LABEL]: dice.of(["true", null]) } } });
	} else await user.patch(ENDPOINTS, known, { subsets: subsets(user) });
}

async function createEndpoints(user: User): Promise<void> {
	const [namespace, name] = [user.namespace(), user.dice.of(SERVICE_NAMES)];
	const draft: Draft<Endpoints> = { metadata: { name }, subsets: subsets(user) ?? [] };
	const made = await user.tries(`user create endpoints ${namespace}/${name}`, () =>
		user.client.create(ENDPOINTS, namespace, draft),
	);
	if (made !== undefined) user.ports.tampering.editsEndpoints(made);
}

/** Slices of somebody who keeps them by hand. */
export async function createSlice(user: User): Promise<void> {
	const { dice } = user;
	const [namespace, service] = [user.namespace(), dice.of(SERVICE_NAMES)];
	const draft: Draft<EndpointSlice> = {
		metadata: {
			name: `own-${dice.below(5)}`,
			labels: { [SERVICE_NAME_LABEL]: service, [SLICE_MANAGED_BY_LABEL]: "example.org/hand" },
		},
		addressType: "IPv4",
		endpoints: [{ addresses: [dice.of(["192.0.2.7", "192.0.2.8"])], conditions: {} }],
		ports: [{ name: "http", port: 80, protocol: "TCP" }],
	};
	await user.tries(`user create endpointslices ${namespace}/${draft.metadata.name}`, () =>
		user.client.create(ENDPOINT_SLICES, namespace, draft),
	);
}

/** Somebody's hand in slices, mostly those of controllers. */
export async function changeSlice(user: User): Promise<void> {
	const { dice, ports } = user;
	const slice = user.any(ENDPOINT_SLICES);
	if (slice === undefined) return createSlice(user);
	const roll = dice.below(10);
	if (roll < 5) {
		ports.tampering.deletesSlice(slice);
		await user.delete(ENDPOINT_SLICES, slice);
	} else if (roll < 8) {
		const endpoints = dice.chance(0.5) ? [] : (slice.endpoints ?? []).slice(1);
		await user.patch(ENDPOINT_SLICES, slice, { endpoints });
	} else await relabelSlice(user, slice);
}

/** The slice leaves its controller, or goes over to another Service. */
async function relabelSlice(user: User, slice: EndpointSlice): Promise<void> {
	const { dice, ports } = user;
	const name = dice.chance(0.5) ? dice.of(SERVICE_NAMES) : undefined;
	ports.tampering.relabelsSlice(slice, name);
	const change = name === undefined ? { [SLICE_MANAGED_BY_LABEL]: "example.org/hand" } : { [SERVICE_NAME_LABEL]: name };
	// A slice whose Service is not there, and that no Service owns, would be nobody's.
	const isOwned = (slice.metadata.ownerReferences ?? []).length > 0;
	if (name === undefined || isOwned) await user.patch(ENDPOINT_SLICES, slice, { metadata: { labels: change } });
	else ports.did(`user leaves ${keyOf(slice)} alone`);
}
