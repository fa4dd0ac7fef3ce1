/** From the bytes of a request to plain data. */
import type { TypeMeta } from "../../api/schema/decode.ts";
import { ApiError, badRequest, hasReason } from "../../api/status.ts";
import type { Patch } from "../verbs/patch.ts";
import { duplicateFields } from "./duplicate-fields.ts";
import type { HttpRequest } from "./message.ts";

export interface BodyCodecs {
	/**
	 * @param repeated When given, keys that come twice are no fault: their paths are added here.
	 * @param who Has turns of their own among those whose texts are long.
	 * @throws {ApiError} `BadRequest`, with line and column; `RequestEntityTooLarge`, `TooManyRequests`
	 */
	readonly parseYaml: (text: string, repeated?: string[], who?: string) => Promise<unknown>;
	/** The `k8s\0` envelope. @throws {ApiError} `BadRequest` */
	readonly decodeProtobuf: (bytes: Uint8Array, expected: TypeMeta) => Promise<unknown>;
}

export interface BodyPorts extends BodyCodecs {
	/** What is large is read in steps. */
	readonly turn: () => Promise<void>;
}

const ACCEPTED = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const PATCH_TYPES = {
	"application/json-patch+json": "json",
	"application/merge-patch+json": "merge",
	"application/strategic-merge-patch+json": "strategic",
	"application/apply-patch+yaml": "apply",
} as const;

export function mediaTypeOf(request: HttpRequest): string {
	const [type = ""] = (request.header("content-type") ?? "").split(";");
	return type.trim().toLowerCase();
}

export interface ReadBody {
	/** Plain data; undefined when there is no body. */
	readonly value: unknown;
	/** Fields that came twice. YAML that is not applied is refused for them, protobuf cannot have them. */
	readonly oddities: readonly string[];
	/** Whoever goes on with it lets others in between the steps. */
	readonly isLarge?: boolean;
}

/** Bytes; what is below is gone through within some milliseconds. */
const LARGE_BYTES = 32 * 1024;

/**
 * The body of a create, update or action.
 * @throws {ApiError} `UnsupportedMediaType`, `BadRequest`, `RequestEntityTooLarge`
 */
export async function readBody(request: HttpRequest, ports: BodyPorts, expected: TypeMeta): Promise<ReadBody> {
	const bytes = await request.body();
	if (bytes.length === 0) return { value: undefined, oddities: [] };
	const isLarge = bytes.length > LARGE_BYTES;
	switch (mediaTypeOf(request)) {
		case "":
		case "application/json":
			return parseJson(bytes, expected.kind, ports);
		case "application/yaml":
		case "application/x-yaml":
		case "text/yaml":
			return read(await ports.parseYaml(textOf(bytes)), [], isLarge, ports);
		case "application/vnd.kubernetes.protobuf":
			return read(await ports.decodeProtobuf(bytes, expected), [], isLarge, ports);
		default:
			throw unsupported(ACCEPTED);
	}
}

/** @throws {ApiError} `UnsupportedMediaType` */
export function patchTypeOf(request: HttpRequest): Patch["type"] {
	const mediaType = mediaTypeOf(request);
	if (Object.hasOwn(PATCH_TYPES, mediaType)) return PATCH_TYPES[mediaType as keyof typeof PATCH_TYPES];
	throw unsupported(Object.keys(PATCH_TYPES).join(", "));
}

/** @throws {ApiError} `BadRequest`, `RequestEntityTooLarge` */
export async function readPatch(request: HttpRequest, type: Patch["type"], ports: BodyPorts): Promise<ReadBody> {
	const bytes = await request.body();
	return type === "apply" ? readConfig(bytes, ports) : parseJson(bytes, "patch", ports);
}

/** What is applied is YAML, and most often the part of it that is JSON. */
async function readConfig(bytes: Uint8Array, ports: BodyPorts): Promise<ReadBody> {
	const text = textOf(bytes);
	if (/^\s*\{/.test(text)) {
		try {
			return await readJson(bytes, text, ports);
		} catch {
			// It may still be YAML's flow style, which looks alike.
		}
	}
	try {
		const repeated: string[] = [];
		const value = (await ports.parseYaml(text, repeated)) ?? {};
		const isLarge = bytes.length > LARGE_BYTES;
		const oddities = repeated.map((path) => `duplicate field "${path}"`);
		return await read(value, oddities, isLarge, ports);
	} catch (error) {
		throw hasReason(error, "BadRequest") ? badRequest(`error decoding YAML: ${error.message}`) : error;
	}
}

export function requireBody(body: ReadBody, { kind }: Pick<TypeMeta, "kind">): ReadBody {
	if (body.value === undefined) throw badRequest(`the body of the request is empty: send a ${kind}`);
	return body;
}

/** @throws {SyntaxError} */
async function readJson(bytes: Uint8Array, text: string, ports: BodyPorts): Promise<ReadBody> {
	const isLarge = bytes.length > LARGE_BYTES;
	if (isLarge) await ports.turn();
	const value: unknown = JSON.parse(text);
	if (isLarge) await ports.turn();
	return read(value, duplicateFields(text), isLarge, ports);
}

/** What has been read; who goes on with it begins in a turn of its own. */
async function read(
	value: unknown,
	oddities: readonly string[],
	isLarge: boolean,
	{ turn }: BodyPorts,
): Promise<ReadBody> {
	if (isLarge) await turn();
	return { value, oddities, isLarge };
}

async function parseJson(bytes: Uint8Array, kind: string, ports: BodyPorts): Promise<ReadBody> {
	const text = textOf(bytes);
	try {
		return await readJson(bytes, text, ports);
	} catch (error) {
		const why = error instanceof Error ? error.message : "not JSON";
		throw badRequest(
			`the object provided is unrecognized (must be of type ${kind}): ${why} (${beginningOf(bytes, text)})`,
		);
	}
}

const SHOWN_BYTES_MAX = 30;

/** The first bytes, as text when they look like JSON, else in hex. */
function beginningOf(bytes: Uint8Array, text: string): string {
	const more = bytes.length > SHOWN_BYTES_MAX ? " ..." : "";
	if (text.startsWith("{")) return text.slice(0, SHOWN_BYTES_MAX) + more;
	const hex = [...bytes.subarray(0, SHOWN_BYTES_MAX)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	return hex + more;
}

function textOf(bytes: Uint8Array): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw badRequest("the body of the request is not UTF-8");
	}
}

function unsupported(accepted: string): ApiError {
	const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
	return new ApiError("UnsupportedMediaType", message);
}
