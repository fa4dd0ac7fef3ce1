/** Carries out the writes of a plan of EndpointSlices, and tells the tracker and the metrics of each. */
import { splitKey } from "../api/resource.ts";
import { ENDPOINT_SLICES } from "../api/resource-names.ts";
import { hasCause } from "../api/status.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { Draft } from "../api/types/meta.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";
import { asError, StaleCacheError } from "./sync-error.ts";

export interface SliceWriterPorts {
	readonly client: ApiClient;
	readonly tracker: SliceTracker;
	/** What slices are written for, as errors name it. */
	readonly source: "Service" | "Endpoints";
	/** Told of every write that was made. */
	wrote(operation: "create" | "update" | "delete"): void;
}

export interface SliceWrites {
	readonly creates: readonly Draft<EndpointSlice>[];
	readonly updates: readonly EndpointSlice[];
	readonly deletes: readonly EndpointSlice[];
}

export class SliceWriter {
	readonly #ports: SliceWriterPorts;

	constructor(ports: SliceWriterPorts) {
		this.#ports = ports;
	}

	/**
	 * Rejects with the first failure, and makes no further write then. Resolves with false when the namespace is
	 * being deleted: then nothing more is to be written.
	 *
	 * @param key `namespace/name` of what the slices are written for.
	 */
	async write(key: string, writes: SliceWrites, signal: AbortSignal): Promise<boolean> {
		const answered = this.#ports.tracker.writing(key);
		try {
			return await this.#write(key, writes, signal);
		} finally {
			answered();
		}
	}

	async #write(key: string, { creates, updates, deletes }: SliceWrites, signal: AbortSignal): Promise<boolean> {
		const { client, wrote } = this.#ports;
		const { namespace } = splitKey(key);
		for (const slice of creates) {
			try {
				this.#remember(await client.create(ENDPOINT_SLICES, namespace, slice, { signal }));
			} catch (error) {
				if (hasCause(error, "NamespaceTerminating")) return false;
				throw this.#failure("failed to create EndpointSlice", key, error);
			}
			wrote("create");
		}
		for (const slice of updates) {
			try {
				this.#remember(await client.update(ENDPOINT_SLICES, slice, { signal }));
			} catch (error) {
				throw this.#failure(`failed to update ${slice.metadata.name} EndpointSlice`, key, error);
			}
			wrote("update");
		}
		for (const slice of deletes) await this.#delete(key, slice, signal, "failed to delete");
		return true;
	}

	/** Deletes a slice of a family that there is no more; upstream words such a failure another way. */
	async deleteUnsupported(key: string, slice: EndpointSlice, signal: AbortSignal): Promise<void> {
		await this.#delete(key, slice, signal, "error deleting");
	}

	async #delete(key: string, slice: EndpointSlice, signal: AbortSignal, failed: string): Promise<void> {
		const { client, tracker, wrote } = this.#ports;
		const { name } = slice.metadata;
		try {
			await client.delete(ENDPOINT_SLICES, { namespace: splitKey(key).namespace, name }, { signal });
		} catch (error) {
			throw this.#failure(`${failed} ${name} EndpointSlice`, key, error);
		}
		tracker.deleted(slice);
		wrote("delete");
	}

	/** @throws {StaleCacheError} When the slice was gone before the answer came: what is planned next must know. */
	#remember(slice: EndpointSlice): void {
		if (this.#ports.tracker.wrote(slice)) return;
		throw new StaleCacheError("it was deleted before the write was answered");
	}

	#failure(what: string, key: string, cause: unknown): Error {
		return new Error(`${what} for ${this.#ports.source} ${key}: ${asError(cause).message}`, { cause });
	}
}
