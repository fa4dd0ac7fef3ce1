/**
 * What users did behind the controllers' backs that, as in upstream, nobody looks at before the next sync of the
 * Service: which Services need not be right until every controller has started anew.
 */
import { keyOf } from "../../api/resource.ts";
import type { Endpoints } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { SERVICE_NAME_LABEL } from "../../api/well-known.ts";

export class Tampering {
	readonly #excused = new Set<string>();
	/** uids of slices of which the running controllers know that they wrote them. */
	readonly #written = new Set<string>();

	/** `namespace/name` of Services. */
	get excused(): ReadonlySet<string> {
		return this.#excused;
	}

	/** The running controllers got the answer to a write. */
	wrote(uid: string): void {
		this.#written.add(uid);
	}

	/** A slice that the running process never wrote is not missed. */
	deletesSlice(slice: EndpointSlice): void {
		if (!this.#written.has(slice.metadata.uid)) this.#excuse(slice);
	}

	/** Labels make no generation rise unless they are the slice's own; a slice under another name is not tracked. */
	relabelsSlice(slice: EndpointSlice, serviceName: string | undefined): void {
		this.#excuse(slice);
		if (serviceName !== undefined) this.#excused.add(`${slice.metadata.namespace}/${serviceName}`);
	}

	/** Nobody watches for edits of Endpoints by hand. */
	editsEndpoints(endpoints: Endpoints): void {
		this.#excused.add(keyOf(endpoints));
	}

	/** Controllers have started anew, and look at everything. */
	forget(): void {
		this.#excused.clear();
		this.#written.clear();
	}

	#excuse({ metadata }: EndpointSlice): void {
		this.#excused.add(`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ""}`);
	}
}
