/** Objects, lists and errors as responses, in the form that was negotiated. */
import type { ResourceType, Table } from "../../api/resource.ts";
import type { ApiError, Status } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { concatBytes, utf8 } from "../../kernel/bytes.ts";
import type { ListAnswer } from "../verbs/list.ts";
import type { EncodedObjects } from "./encoded-objects.ts";
import type { HttpResponse } from "./message.ts";
import type { Negotiated } from "./negotiate.ts";
import { type IncludeObject, listKindOf, partialOf, tableOf } from "./table.ts";

export interface AnswerPorts {
	readonly encoded: EncodedObjects;
	readonly stringifyYaml: (value: unknown) => Promise<string>;
	readonly nowMs: () => number;
}

export interface AnswerOptions extends Negotiated {
	readonly include: IncludeObject;
}

const JSON_TYPE = "application/json";

export function jsonAnswer(status: number, value: unknown, isPretty = false): HttpResponse {
	const text = isPretty ? JSON.stringify(value, undefined, 2) : JSON.stringify(value);
	return { status, headers: { "content-type": JSON_TYPE }, body: utf8(`${text}\n`) };
}

export function textAnswer(status: number, text: string): HttpResponse {
	const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
	return { status, headers, body: utf8(text) };
}

/** Errors ignore transforms and are always JSON. */
export function errorAnswer(error: ApiError, isPretty: boolean): HttpResponse {
	const answer = jsonAnswer(error.code, error.status(), isPretty);
	const seconds = error.details?.retryAfterSeconds ?? 0;
	return seconds > 0 ? { ...answer, headers: { ...answer.headers, "retry-after": String(seconds) } } : answer;
}

/** @param table How the kind prints; a Status has no table. */
export async function objectAnswer(
	ports: AnswerPorts,
	status: number,
	object: KubeObject | Status,
	table: Table<KubeObject> | undefined,
	options: AnswerOptions,
): Promise<HttpResponse> {
	if (!isStored(object) || options.form.kind === "plain") return plainAnswer(ports, status, object, options);
	const { form } = options;
	if (form.kind === "partial") return valueAnswer(ports, status, partialOf(object, form.version), options);
	if (table === undefined) return plainAnswer(ports, status, object, options);
	const { resourceVersion } = object.metadata;
	const metadata = resourceVersion === "" ? {} : { resourceVersion };
	const shared = { table, version: form.version, include: options.include, nowMs: ports.nowMs() };
	return valueAnswer(ports, status, tableOf([object], { ...shared, withColumns: true, metadata }), options);
}

function isStored(object: KubeObject | Status): object is KubeObject {
	return object.kind !== "Status";
}

function plainAnswer(
	ports: AnswerPorts,
	status: number,
	object: KubeObject | Status,
	options: AnswerOptions,
): HttpResponse | Promise<HttpResponse> {
	if (options.syntax === "yaml" || options.isPretty || !isStored(object) || !Object.isFrozen(object)) {
		return valueAnswer(ports, status, withoutBlankVersion(object), options);
	}
	const body = concatBytes([ports.encoded.jsonOf(object), NEWLINE]);
	return { status, headers: { "content-type": JSON_TYPE }, body };
}

const NEWLINE = utf8("\n");

/** A dry-run's object was never stored, so it has no resourceVersion to show. */
function withoutBlankVersion(object: KubeObject | Status): unknown {
	if (!isStored(object) || object.metadata.resourceVersion !== "") return object;
	const { resourceVersion: _, ...metadata } = object.metadata;
	return { ...object, metadata };
}

export async function listAnswer(
	ports: AnswerPorts,
	type: ResourceType,
	list: ListAnswer,
	options: AnswerOptions,
): Promise<HttpResponse> {
	const { form } = options;
	const metadata = {
		resourceVersion: String(list.revision),
		...(list.continueToken === undefined ? {} : { continue: list.continueToken }),
		...(list.remainingItemCount === undefined ? {} : { remainingItemCount: list.remainingItemCount }),
	};
	if (form.kind === "table") {
		const shared = { table: type.table, version: form.version, include: options.include, nowMs: ports.nowMs() };
		return valueAnswer(ports, 200, tableOf(list.items, { ...shared, withColumns: true, metadata }), options);
	}
	if (form.kind === "partial") {
		const items = list.items.map((object) => partialOf(object, form.version));
		const head = { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${form.version}`, metadata };
		return valueAnswer(ports, 200, { ...head, items }, options);
	}
	const head = { ...listKindOf(type), metadata };
	if (options.syntax === "yaml" || options.isPretty) {
		return valueAnswer(ports, 200, { ...head, items: list.items }, options);
	}
	const body =
		list.items.length > WHOLE_ITEMS_MAX
			? { pieces: listPieces(head, list.items) }
			: listBytes(ports.encoded, head, list.items);
	return { status: 200, headers: { "content-type": JSON_TYPE }, body };
}

/** Items of a list that is made at once. Of a longer one so many make a piece, and others have their turn in between. */
const WHOLE_ITEMS_MAX = 1_000;

/** Without the kept bytes: one long list would push out all that watchers share. */
function* listPieces(head: object, items: readonly KubeObject[]): Iterable<Uint8Array> {
	let before = listStart(head);
	for (let index = 0; index < items.length; index += WHOLE_ITEMS_MAX) {
		const piece = JSON.stringify(items.slice(index, index + WHOLE_ITEMS_MAX)).slice(1, -1);
		yield utf8(before + piece);
		before = ",";
	}
	yield LIST_END;
}

function listStart(head: object): string {
	return `${JSON.stringify(head).slice(0, -1)},"items":[`;
}

/** The stored bytes of each item, joined: a list costs no JSON.stringify of its objects. */
function listBytes(encoded: EncodedObjects, head: object, items: readonly KubeObject[]): Uint8Array {
	const chunks: Uint8Array[] = [utf8(listStart(head))];
	for (const [index, object] of items.entries()) {
		if (index > 0) chunks.push(COMMA);
		chunks.push(encoded.jsonOf(object));
	}
	chunks.push(LIST_END);
	return concatBytes(chunks);
}

const COMMA = utf8(",");
const LIST_END = utf8("]}\n");

async function valueAnswer(
	ports: AnswerPorts,
	status: number,
	value: unknown,
	{ syntax, isPretty }: AnswerOptions,
): Promise<HttpResponse> {
	if (syntax === "json") return jsonAnswer(status, value, isPretty);
	return { status, headers: { "content-type": "application/yaml" }, body: utf8(await ports.stringifyYaml(value)) };
}
