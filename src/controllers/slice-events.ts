/** When a change of an EndpointSlice means that its Service must be looked at again. */
import { keyOf } from "../api/resource.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import type { Handlers, Informer, Lister } from "../machinery/informer.ts";
import type { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";

export interface SliceListener {
	/** Value of the managed-by label of the slices that are one's own. */
	readonly manager: string;
	readonly tracker: SliceTracker;
	/** Where the slices are told from. */
	readonly cache: Pick<Lister<EndpointSlice>, "get">;
	/** Called with `namespace/name` of the Service. */
	readonly enqueue: (serviceKey: string) => void;
	/** Called with the key of a slice that names no Service. */
	readonly onNameless: (slice: EndpointSlice) => void;
}

/** Only what others did to a slice is news: one's own writes come back, too. */
export function sliceHandlers(listener: SliceListener): Handlers<EndpointSlice> {
	const { manager, tracker, cache, enqueue, onNameless } = listener;
	const isManaged = (slice: EndpointSlice): boolean => slice.metadata.labels?.[SLICE_MANAGED_BY_LABEL] === manager;
	const enqueueServiceOf = (slice: EndpointSlice): void => {
		const key = serviceKeyOfSlice(slice);
		if (key === undefined) onNameless(slice);
		else enqueue(key);
	};
	const isLost = (old: EndpointSlice, now: EndpointSlice): boolean =>
		serviceNameOf(old) !== serviceNameOf(now) || !isManaged(now) || isDeleting(old) !== isDeleting(now);
	const counts = (slice: EndpointSlice): boolean => {
		const cached = cache.get(keyOf(slice));
		return cached?.metadata.uid === slice.metadata.uid && isManaged(cached) && !isLost(slice, cached);
	};
	return {
		applied(asOf) {
			for (const slice of tracker.missed(asOf, counts)) enqueueServiceOf(slice);
		},
		added(slice) {
			if (isManaged(slice) && tracker.isNews(slice)) enqueueServiceOf(slice);
		},
		updated(old, slice) {
			if (isManaged(old) && isLost(old, slice)) tracker.lost(old);
			if (serviceNameOf(old) !== serviceNameOf(slice)) {
				enqueueServiceOf(slice);
				enqueueServiceOf(old);
			} else if (isManaged(old) !== isManaged(slice) || (isManaged(slice) && tracker.isNews(slice))) {
				enqueueServiceOf(slice);
			}
		},
		deleted(slice) {
			// A slice that this process never wrote is not missed: it may be left over from before.
			if (isManaged(slice) && !tracker.sawDeletion(slice)) enqueueServiceOf(slice);
		},
	};
}

function isDeleting({ metadata }: EndpointSlice): boolean {
	return metadata.deletionTimestamp !== undefined;
}

function serviceNameOf({ metadata }: EndpointSlice): string {
	return metadata.labels?.[SERVICE_NAME_LABEL] ?? "";
}

/** Index of slices by `namespace/name` of the Service that they name, whoever keeps them. */
export const BY_SERVICE = "byService";

export function indexByService(slices: Informer<EndpointSlice>): void {
	slices.addIndex(BY_SERVICE, (slice) => {
		const key = serviceKeyOfSlice(slice);
		return key === undefined ? [] : [key];
	});
}

/** undefined when the slice names no Service. */
function serviceKeyOfSlice(slice: EndpointSlice): string | undefined {
	const name = serviceNameOf(slice);
	return name === "" ? undefined : `${slice.metadata.namespace}/${name}`;
}
