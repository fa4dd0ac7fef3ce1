/**
 * Whether somebody else runs these controllers already: two that keep the same slices undo each other's work for ever.
 *
 * Two signs: the Lease of a kube-controller-manager that is renewed while one looks, and slices with a controller's
 * name on them that another program writes.
 */
import { ENDPOINT_SLICES, LEASES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import type { Clock } from "../kernel/clock.ts";
import { isObject } from "../kernel/json.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { Informers } from "../machinery/informers.ts";

/** Owns what `sliceplane controllers` writes. */
export const OWN_MANAGER = "sliceplane-controllers";

const MANAGER_LEASE = { namespace: "kube-system", name: "kube-controller-manager" } as const;
const LOOK_MS = 1_000;
const LEASE_SECONDS_DEFAULT = 15;
/** A Lease says how long it is good for; nobody waits longer than this for it. */
const WAIT_MS_MAX = 60_000;

/** Controllers that write slices, by the name that they put on them. */
const SLICE_KEEPERS: Readonly<Record<string, string>> = {
	"endpointslice-controller": ENDPOINTSLICE_CONTROLLER,
	"endpointslice-mirroring-controller": ENDPOINTSLICEMIRRORING_CONTROLLER,
};

/** The flag that says: it is known, and well. */
const FLAG = "--take-over";
export const WHAT_TO_DO: string =
	"stop that one, or start it without them (kube-controller-manager --controllers='*,-NAME'); " +
	`then ${FLAG} says that all is well`;

/**
 * A sentence about a kube-controller-manager that is alive, but for what to do. Whether it is, shows only while one looks: its clock may be
 * another, so a Lease that is held is looked at until it is renewed, or its time is over.
 */
export async function livingManager(
	client: ApiClient,
	clock: Clock,
	signal: AbortSignal,
	progress: (text: string) => void,
): Promise<string | undefined> {
	const first = await managerLease(client, signal);
	const { holderIdentity: holder = "", leaseDurationSeconds: seconds = LEASE_SECONDS_DEFAULT } = first?.spec ?? {};
	if (holder === "") return undefined;
	progress(
		`Lease ${MANAGER_LEASE.namespace}/${MANAGER_LEASE.name} is held by ${holder}: waiting whether it is renewed`,
	);
	const endMs = clock.monotonicMs() + Math.min(seconds * 1000, WAIT_MS_MAX);
	while (clock.monotonicMs() < endMs) {
		await clock.sleep(LOOK_MS, signal);
		const now = await managerLease(client, signal);
		if (now === undefined || now.spec?.holderIdentity === "") return undefined;
		if (now.spec?.renewTime === first?.spec?.renewTime) continue;
		return (
			`a kube-controller-manager runs (Lease ${MANAGER_LEASE.namespace}/${MANAGER_LEASE.name}, held by ${holder}, was renewed at ` +
			`${now.spec?.renewTime}), and by default it has the same controllers: `
		);
	}
	return undefined;
}

async function managerLease(client: ApiClient, signal: AbortSignal): Promise<Lease | undefined> {
	try {
		return await client.get(LEASES, MANAGER_LEASE, signal);
	} catch (error) {
		if (hasReason(error, "NotFound")) return undefined;
		throw error;
	}
}

/**
 * Resolves with a sentence about the first slice of these controllers that another program has written; not before the
 * slices are known, and never when there is none.
 */
export function foreignSlice(informers: Informers, controllers: Iterable<string>): Promise<string> {
	const keepers = new Map([...controllers].flatMap((name) => SLICE_KEEPERS[name] ?? []).map((by) => [by, true]));
	return new Promise((resolve) => {
		if (keepers.size === 0) return;
		const see = (slice: EndpointSlice): void => {
			const by = slice.metadata.labels?.[SLICE_MANAGED_BY_LABEL] ?? "";
			const other = keepers.has(by) ? foreignWriter(slice) : undefined;
			if (other !== undefined) resolve(foreignText(slice, by, other));
		};
		informers.of(ENDPOINT_SLICES).addHandlers({ added: see, updated: (_old, slice) => see(slice) });
	});
}

function foreignText({ metadata }: EndpointSlice, by: string, { manager, time = "?" }: Writer): string {
	return (
		`EndpointSlice ${metadata.namespace}/${metadata.name}, managed by ${by}, is written by ${manager} (last at ${time}), ` +
		`not by this program: ${WHAT_TO_DO}`
	);
}

interface Writer {
	readonly manager: string;
	readonly time?: string;
}

/** Who owns its endpoints. People who edit a slice by hand keep nothing: the controller undoes it. */
export function foreignWriter({ metadata }: EndpointSlice): Writer | undefined {
	return metadata.managedFields?.find(
		({ manager = "", fieldsV1 }) =>
			manager !== "" &&
			manager !== OWN_MANAGER &&
			!manager.startsWith("kubectl") &&
			isObject(fieldsV1) &&
			"f:endpoints" in fieldsV1,
	) as Writer | undefined;
}
