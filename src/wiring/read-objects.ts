/** What `explain` looks at in files: manifests, lists, what kubectl printed of a cluster, however large. */
import { TextDecoder } from "node:util";
import { resourceOfKind } from "../api/resource-table.ts";
import { decodeObject } from "../api/schema/decode.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Endpoints, Event, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { type JsonItem, JsonItems } from "../edge/codec/json-items.ts";
import { parseManifests } from "../edge/codec/yaml.ts";
import { keptFields } from "../explain/kept-fields.ts";
import { type ClusterSnapshot, WORKLOAD_KINDS, type Workload } from "../explain/snapshot.ts";
import { isObject } from "../kernel/json.ts";

/** YAML takes many times its size in memory, and minutes: JSON of the same is read as it is. */
const YAML_BYTES_MAX = 50 * 1024 * 1024;
/** Objects that are kept: some 1.5 KiB each. */
const OBJECTS_MAX = 1_000_000;
/** Items without a kind before the list has told its own, which are kept whole. */
const UNNAMED_MAX = 10_000;

export interface ObjectSource {
	/** For messages. */
	readonly file: string;
	readonly chunks: AsyncIterable<Uint8Array>;
}

/** Where an object stands. */
export interface Origin {
	readonly file: string;
	/** From 1. */
	readonly line: number;
}

export interface ReadObjects {
	readonly snapshot: ClusterSnapshot;
	/** By `Kind/namespace/name`, `Kind//name` for what is in none. */
	readonly origins: ReadonlyMap<string, Origin>;
}

/**
 * A kind of which there is neither an object nor an empty list (`kind: EndpointSliceList`) counts as not looked at.
 *
 * @param namespace Of what names none.
 * @throws {Error} A sentence that names the file, and the place in it.
 */
export async function readObjects(
	sources: readonly ObjectSource[],
	namespace: string = "default",
): Promise<ReadObjects> {
	const collected = new Collected(namespace);
	for (const source of sources) {
		await collect(source, collected);
		collected.endOf(source.file);
	}
	return { snapshot: collected.snapshot(), origins: collected.origins };
}

async function collect({ file, chunks }: ObjectSource, collected: Collected): Promise<void> {
	const held: Uint8Array[] = [];
	let heldBytes = 0;
	let items: JsonItems | undefined;
	let isFirst = true;
	for await (const chunk of asUtf8(file, chunks)) {
		if (isFirst) refuseArray(file, chunk);
		isFirst = false;
		if (items === undefined && (held.length > 0 || !beginsJson(chunk))) {
			held.push(chunk);
			heldBytes += chunk.length;
			if (heldBytes > YAML_BYTES_MAX) {
				throw new Error(`${file}: more than 50 MiB of YAML, which takes minutes: take kubectl get -o json`);
			}
			continue;
		}
		items ??= new JsonItems(file, (item) => collected.take(file, item));
		items.push(chunk);
	}
	if (items !== undefined) items.end();
	else await collectYaml(file, Buffer.concat(held).toString("utf8"), collected);
}

/** Some programs begin their files with a mark of the byte order, and PowerShell's `>` writes UTF-16. */
async function* asUtf8(file: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let decoder: TextDecoder | undefined;
	let isFirst = true;
	for await (const chunk of chunks) {
		if (isFirst && chunk[0] === 0x1f && chunk[1] === 0x8b) {
			throw new Error(`${file}: want text, and it is compressed: gunzip -c ${file} | sliceplane explain -f -`);
		}
		if (isFirst) decoder = utf16Of(chunk);
		if (decoder !== undefined) yield Buffer.from(decoder.decode(chunk, { stream: true }));
		else yield isFirst ? withoutMark(chunk) : chunk;
		isFirst = false;
	}
}

function utf16Of([first, second]: Uint8Array): TextDecoder | undefined {
	if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le");
	return first === 0xfe && second === 0xff ? new TextDecoder("utf-16be") : undefined;
}

function withoutMark(chunk: Uint8Array): Uint8Array {
	const [first, second, third] = chunk;
	return first === 0xef && second === 0xbb && third === 0xbf ? chunk.subarray(3) : chunk;
}

function refuseArray(file: string, chunk: Uint8Array): void {
	if (!/^\s*\[\s*[{\]]/.test(Buffer.from(chunk.subarray(0, 4096)).toString("utf8"))) return;
	throw new Error(
		`${file}: line 1: want an object of kind List, and it is a JSON array: jq '{kind: "List", items: .}'`,
	);
}

function beginsJson(chunk: Uint8Array): boolean {
	return /^\s*\{/.test(Buffer.from(chunk.subarray(0, 4096)).toString("utf8"));
}

async function collectYaml(file: string, text: string, collected: Collected): Promise<void> {
	const parsed = await parseManifests(text);
	if (parsed.kind === "malformed") throw new Error(`${file}: ${parsed.message}`);
	if (parsed.documents.length === 0)
		throw new Error(`${file}: want manifests, or what kubectl get prints: it is empty`);
	for (const { line, value } of parsed.documents) collected.take(file, { value, line, list: {} });
}

class Collected {
	readonly origins = new Map<string, Origin>();
	readonly #byKind = new Map<string, KubeObject[]>();
	readonly #lookedAt = new Set<string>();
	readonly #namespace: string;
	/** Of a list that has not told its kind yet. */
	#unnamed: JsonItem[] = [];
	#count = 0;

	constructor(namespace: string) {
		this.#namespace = namespace;
	}

	/** @throws {Error} For objects that never told their kind. */
	endOf(file: string): void {
		const [first] = this.#unnamed;
		if (first !== undefined) throw new Error(`${file}: line ${first.line}: ${WANTED}, and this has no kind`);
	}

	/** What is of a kind that nothing depends on is passed over. */
	take(file: string, item: JsonItem): void {
		const { value, line, list } = item;
		if (!isObject(value)) return;
		const { kind, items } = value;
		if (Array.isArray(items)) this.#takeList(file, item, items);
		else if (typeof kind === "string") this.#keep(file, line, value);
		else if (typeof list["kind"] === "string") this.#keep(file, line, { ...value, kind: itemKind(list["kind"]) });
		else {
			if (this.#unnamed.length >= UNNAMED_MAX) {
				throw new Error(`${file}: line ${line}: want a kind in each item, or before the items of their list`);
			}
			this.#unnamed.push(item);
		}
	}

	#takeList(file: string, { value, line }: JsonItem, items: readonly unknown[]): void {
		const kind = isObject(value) && typeof value["kind"] === "string" ? value["kind"] : "";
		this.#lookedAt.add(itemKind(kind));
		const unnamed = this.#unnamed;
		this.#unnamed = [];
		const list = { kind };
		for (const item of unnamed) this.take(file, { ...item, list });
		for (const item of items) this.take(file, { value: item, line, list });
	}

	#keep(file: string, line: number, value: Readonly<Record<string, unknown>>): void {
		const { metadata } = value;
		const kept = isOfOtherGroup(value) ? undefined : keptFields(value);
		if (kept === undefined) return;
		if (!isObject(metadata) || !isName(metadata["name"])) {
			throw new Error(`${file}: line ${line}: ${WANTED}, and this ${String(kept["kind"])} has no name`);
		}
		if (this.#count >= OBJECTS_MAX) {
			throw new Error(`${file}: line ${line}: more than ${OBJECTS_MAX} objects: take one namespace at a time`);
		}
		this.#count++;
		const decoded = decodedObject(kept);
		if (typeof decoded === "string") {
			throw new Error(`${file}: line ${line}: ${String(kept["kind"])}/${metadata["name"]}: ${decoded}`);
		}
		const object = placed(decoded, this.#namespace);
		this.origins.set(originKey(object.kind, object.metadata.namespace, object.metadata.name), { file, line });
		const list = this.#byKind.get(object.kind);
		if (list === undefined) this.#byKind.set(object.kind, [object]);
		else list.push(object);
	}

	snapshot(): ClusterSnapshot {
		const ofKind = <T extends KubeObject>(...kinds: readonly string[]): readonly T[] =>
			kinds.flatMap((kind) => this.#byKind.get(kind) ?? []) as readonly KubeObject[] as readonly T[];
		const missing = ["Service", "Pod", "Endpoints", "EndpointSlice", "Node", "Event"].filter(
			(kind) => !this.#byKind.has(kind) && !this.#lookedAt.has(kind),
		);
		return {
			services: ofKind<Service>("Service"),
			pods: ofKind<Pod>("Pod"),
			endpoints: ofKind<Endpoints>("Endpoints"),
			slices: ofKind<EndpointSlice>("EndpointSlice"),
			nodes: ofKind<Node>("Node"),
			workloads: ofKind<Workload>(...WORKLOAD_KINDS),
			events: ofKind<Event>("Event"),
			leases: ofKind<Lease>("Lease"),
			missing,
		};
	}
}

const WANTED = "want objects with kind and metadata.name, as kubectl get -o json or -o yaml prints them";

export function originKey(kind: string, namespace: string | undefined, name: string): string {
	return `${kind}/${namespace ?? ""}/${name}`;
}

/** `PodList` is of Pods; a `List` says nothing. */
function itemKind(listKind: string): string {
	return listKind === "List" ? "" : listKind.replace(/List$/, "");
}

/** Of the kinds that are looked at; manifests may leave it out. */
const API_VERSIONS: ReadonlyMap<string, string> = new Map([
	["EndpointSlice", "discovery.k8s.io/v1"],
	["Lease", "coordination.k8s.io/v1"],
	["Job", "batch/v1"],
	...["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"].map((kind): [string, string] => [kind, "apps/v1"]),
]);

/** Other groups have kinds of the same names, such as Service; other versions have other fields. */
function isOfOtherGroup({ apiVersion, kind }: Readonly<Record<string, unknown>>): boolean {
	return apiVersion !== undefined && apiVersion !== (API_VERSIONS.get(String(kind)) ?? "v1");
}

/** With the types that the API has; what is wrong otherwise. */
function decodedObject(object: Record<string, unknown>): Record<string, unknown> | string {
	const kind = String(object["kind"]);
	const apiVersion = API_VERSIONS.get(kind) ?? "v1";
	const schema = resourceOfKind(apiVersion, kind)?.schema;
	// Of kinds that this project does not serve only the labels of a template are looked at.
	if (schema === undefined) return { ...object, spec: isObject(object["spec"]) ? object["spec"] : {} };
	const decoded = decodeObject(schema, object, { apiVersion, kind });
	return decoded.kind === "wrong" ? decoded.message : decoded.object;
}

/** A manifest that names no namespace is meant for the one that was asked for; what is left out, and always there, is empty. */
function placed(object: Record<string, unknown>, namespace: string): KubeObject {
	const { kind, metadata } = object;
	const made: object = {
		...object,
		...filledIn(object),
		metadata: kind === "Node" ? metadata : { namespace, ...(metadata as object) },
	};
	return made as KubeObject;
}

function filledIn({ kind, spec, involvedObject, endpoints }: Record<string, unknown>): object {
	switch (kind) {
		case "Service":
			return { spec: spec ?? {} };
		case "Pod":
			return { spec: { containers: [], ...(spec as object | undefined) } };
		case "Event":
			return { involvedObject: involvedObject ?? {} };
		case "EndpointSlice":
			return {
				endpoints: ((endpoints ?? []) as readonly object[]).map((each) => ({ addresses: [], conditions: {}, ...each })),
			};
		default:
			return {};
	}
}

function isName(value: unknown): value is string {
	return typeof value === "string" && value !== "";
}
