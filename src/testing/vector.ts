/**
 * Inputs with the writes that upstream's controllers made for them, as files.
 *
 * Those with a `runs` in `expected` come from upstream's own sync functions; where their runs differed, because
 * upstream goes over maps in random order, `deterministic` is false and `shapes` lists what came out.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { EndpointSubset, Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";

export interface WrittenSlice extends Pick<EndpointSlice, "addressType" | "ports" | "endpoints"> {
	readonly name?: string;
	readonly generateName?: string;
	readonly labels?: object;
	readonly annotations?: object;
	readonly ownerReferences?: readonly object[];
}

export interface WrittenEndpoints {
	readonly name: string;
	readonly labels?: object;
	readonly annotations?: object;
	readonly subsets?: readonly EndpointSubset[];
}

/** What one sync wrote, told and answered. */
export interface VectorWrites {
	readonly created?: readonly WrittenSlice[];
	readonly updated?: readonly WrittenSlice[];
	/** Names. */
	readonly deleted?: readonly string[];
	readonly endpointsCreated?: readonly WrittenEndpoints[];
	readonly endpointsUpdated?: readonly WrittenEndpoints[];
	readonly events?: readonly string[];
	readonly error?: string | undefined;
}

/** One of the outcomes that upstream's order of maps can lead to. */
export interface VectorShape {
	readonly created: readonly ShapeEntry[];
	readonly updated: readonly ShapeEntry[];
	readonly deleted: readonly string[];
	readonly zoneHints?: Readonly<Record<string, number>>;
}

export interface ShapeEntry {
	readonly name?: string;
	readonly addressType: string;
	/** JSON. */
	readonly ports: string;
	readonly endpoints: number;
}

export interface Vector {
	readonly name: string;
	readonly input: {
		/** `endpointslice`, `endpoints` or `mirroring`. */
		readonly controller: string;
		readonly options?: { readonly maxEndpointsPerSlice?: number };
		readonly service?: Service;
		readonly pods?: readonly Pod[];
		readonly nodes?: readonly Node[];
		readonly existingSlices?: readonly EndpointSlice[];
		readonly endpoints?: Endpoints | readonly Endpoints[];
		readonly hasPrevious?: boolean;
		readonly previousPods?: readonly Pod[];
		readonly key?: string;
	};
	readonly expected: VectorWrites & {
		readonly deterministic: boolean;
		readonly shapes?: readonly VectorShape[];
	};
}

/** Every `.json` file under the folder, at any depth, in the order of paths. */
export function vectorFiles(folder: string): readonly string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".json"))
		.sort()
		.map((file) => path.join(folder, file));
}

/** @throws {SyntaxError} for a file that is no JSON, {TypeError} for JSON that is no vector. */
export function readVector(file: string): Vector {
	const read = JSON.parse(readFileSync(file, "utf8")) as Partial<Vector> | null;
	if (typeof read !== "object" || typeof read?.input !== "object" || typeof read.expected !== "object") {
		throw new TypeError(`${file}: want an object with input and expected`);
	}
	return { name: path.basename(file, ".json"), ...read, input: read.input, expected: read.expected };
}
