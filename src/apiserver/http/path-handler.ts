/** Requests for anything but resources: version, health, discovery, OpenAPI, metrics. */

import {
	aggregatedDiscovery,
	apiGroup,
	apiGroupList,
	apiResourceList,
	apiVersions,
	type DiscoveredType,
} from "../../api/discovery.ts";
import { openApiHash, openApiIndex, openApiKey, openApiV3Document } from "../../api/openapi/document.ts";
import { type SwaggerDocument, swaggerDocument } from "../../api/openapi/swagger.ts";
import { apiVersionOf } from "../../api/resource.ts";
import { ApiError, noSuchPath } from "../../api/status.ts";
import { NO_BYTES, utf8 } from "../../kernel/bytes.ts";
import type { Store } from "../../store/store.ts";
import { jsonAnswer, textAnswer } from "./answer.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { clausesOf, wantsPretty } from "./negotiate.ts";
import { booleanOf } from "./query.ts";

export interface VersionInfo {
	readonly major: string;
	readonly minor: string;
	readonly gitVersion: string;
	readonly gitCommit: string;
	readonly gitTreeState: string;
	readonly buildDate: string;
	readonly goVersion: string;
	readonly compiler: string;
	readonly platform: string;
	readonly emulationMajor: string;
	readonly emulationMinor: string;
	readonly minCompatibilityMajor: string;
	readonly minCompatibilityMinor: string;
}

export interface PathHandlerPorts {
	/** Built-in kinds, and questions that are only answered. */
	readonly types: readonly DiscoveredType[];
	/** What definitions add; another list when one has changed. */
	readonly customTypes: readonly DiscoveredType[];
	readonly store: Store;
	readonly version: VersionInfo;
	/** `host:port` that clients reach this server at. */
	readonly address: () => string;
	readonly metricsText: () => Promise<string>;
	/** OpenAPI v2 in gnostic's protobuf form. */
	readonly encodeSwagger: (document: SwaggerDocument) => Promise<Uint8Array>;
	/** Why the server is not ready, or undefined when it is. */
	readonly unready: () => string | undefined;
	readonly nowMs: () => number;
}

/** Everything that is served: built-in groups come first. The same list as long as nothing changes. */
function servedTypes({ types, customTypes }: PathHandlerPorts): readonly DiscoveredType[] {
	if (customTypes.length === 0) return types;
	const known = allTypes.get(customTypes) ?? [...types, ...customTypes];
	allTypes.set(customTypes, known);
	return known;
}

const allTypes = new WeakMap<readonly DiscoveredType[], readonly DiscoveredType[]>();

export async function handlePath(ports: PathHandlerPorts, request: HttpRequest): Promise<HttpResponse> {
	const path = request.path.length > 1 ? request.path.replace(/\/+$/, "") : request.path;
	if (request.method !== "GET" && request.method !== "HEAD") {
		throw new ApiError("MethodNotAllowed", "the server does not allow this method on the requested resource", {
			details: {},
		});
	}
	if (path === "/version") return jsonAnswer(200, ports.version, true);
	const [, root = ""] = path.split("/");
	switch (root) {
		case "healthz":
		case "livez":
		case "readyz":
			return health(ports, request, path);
		case "metrics":
			return textAnswer(200, await ports.metricsText());
		case "openapi":
			return openApi(ports, request, path);
		case "api":
		case "apis":
			return discovery(ports, request, path);
		case "":
			return jsonAnswer(200, {
				paths: ["/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"],
			});
		default:
			throw noSuchPath();
	}
}

const CHECKS = ["ping", "log", "etcd"] as const;

function health(ports: PathHandlerPorts, request: HttpRequest, path: string): HttpResponse {
	const [, name = "", check] = path.split("/");
	if (check !== undefined && !CHECKS.some((known) => known === check)) throw noSuchPath();
	const why = name === "readyz" ? ports.unready() : undefined;
	if (why !== undefined) return textAnswer(500, `[-]${why} failed: reason withheld\n${name} check failed\n`);
	if (!booleanOf(request.query, "verbose")) return textAnswer(200, "ok");
	const lines = CHECKS.map((known) => `[+]${known} ok`);
	return textAnswer(200, `${lines.join("\n")}\n${name} check passed\n`);
}

function discovery(ports: PathHandlerPorts, request: HttpRequest, path: string): HttpResponse {
	const isRoot = path === "/api" || path === "/apis";
	const clause = isRoot ? aggregatedClause(request.header("accept")) : undefined;
	if (clause !== undefined) {
		const document = aggregatedDiscovery(servedTypes(ports), path === "/api" ? "core" : "named", clause);
		const type = `application/json;g=apidiscovery.k8s.io;v=${clause};as=APIGroupDiscoveryList`;
		return cacheable(request, document, { "content-type": type, vary: "Accept", "cache-control": "public" });
	}
	const document = legacyDocument(ports, path);
	if (document === undefined) throw noSuchPath();
	return jsonAnswer(200, document, wantsPretty(request.query, request.header("user-agent")));
}

function legacyDocument(ports: PathHandlerPorts, path: string): object | undefined {
	const { address } = ports;
	const types = servedTypes(ports);
	const [, root, first, second, ...more] = path.split("/");
	if (more.length > 0) return undefined;
	if (root === "api") {
		if (first === undefined) return apiVersions(address());
		return second === undefined ? apiResourceList(types, "", first) : undefined;
	}
	if (first === undefined) return apiGroupList(types);
	return second === undefined ? apiGroup(types, first) : apiResourceList(types, first, second);
}

/** The first clause that asks for a document this server has: aggregated in a version, or (undefined) legacy. */
function aggregatedClause(accept: string | undefined): "v2" | "v2beta1" | undefined {
	for (const { type, parameters } of clausesOf(accept ?? "")) {
		if (type !== "application/json" && type !== "*/*" && type !== "application/*") continue;
		if (!parameters.has("as")) return undefined;
		const version = parameters.get("v");
		const isDiscovery =
			parameters.get("g") === "apidiscovery.k8s.io" && parameters.get("as") === "APIGroupDiscoveryList";
		if (isDiscovery && (version === "v2" || version === "v2beta1")) return version;
	}
	return undefined;
}

function openApi(ports: PathHandlerPorts, request: HttpRequest, path: string): HttpResponse | Promise<HttpResponse> {
	if (path === "/openapi/v2") return openApiV2(ports, request);
	const types = servedTypes(ports);
	const groupVersions = [...new Set(types.map(apiVersionOf))];
	if (path === "/openapi/v3") {
		const documents = groupVersions.map((groupVersion) => ({ groupVersion, hash: hashOf(ports, groupVersion) }));
		return cacheable(request, openApiIndex(documents), { "content-type": "application/json", vary: "Accept" });
	}
	const groupVersion = groupVersions.find((known) => path === `/openapi/v3/${openApiKey(known)}`);
	if (groupVersion === undefined) throw noSuchPath();
	const hash = hashOf(ports, groupVersion);
	const asked = request.query.get("hash");
	if (asked !== null && asked !== hash) {
		const location = `${path}?hash=${hash}`;
		return { status: 301, headers: { location, "content-type": "text/plain" }, body: NO_BYTES };
	}
	const expires = new Date(ports.nowMs() + YEAR_MS).toUTCString();
	const caching = asked === null ? {} : { "cache-control": "public, immutable", expires };
	const headers = { "content-type": "application/json", vary: "Accept", ...caching };
	return cacheable(request, openApiV3Document(groupVersion, types), headers);
}

/**
 * The documents of built-in kinds follow from the program's version, so the version names their content; what
 * definitions add is named by itself.
 */
function hashOf(ports: PathHandlerPorts, groupVersion: string): string {
	const { version } = ports;
	const types = servedTypes(ports);
	const hashes = contentHashes.get(types) ?? new Map<string, string>();
	contentHashes.set(types, hashes);
	const known = hashes.get(groupVersion);
	if (known !== undefined) return known;
	const custom = types.filter((type) => type.custom !== undefined);
	const inDocument = custom.filter((type) => groupVersion === "v2" || apiVersionOf(type) === groupVersion);
	const content = inDocument.length === 0 ? "" : JSON.stringify(inDocument);
	const hash = openApiHash(`${version.gitVersion} ${version.gitCommit} ${groupVersion}${content}`);
	hashes.set(groupVersion, hash);
	return hash;
}

const contentHashes = new WeakMap<readonly DiscoveredType[], Map<string, string>>();

/** What is asked for by a hash never changes. */
const YEAR_MS = 365 * 86_400_000;
const V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** The older name is the one that clients still send. */
const V2_PROTOBUF_NAMES: ReadonlySet<string> = new Set([
	V2_PROTOBUF,
	"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
]);
const JSON_NAMES: ReadonlySet<string> = new Set(["application/json", "application/*", "*/*"]);

/** v2 in JSON, or in the protobuf form that kubectl asks for by one of two names. */
async function openApiV2(ports: PathHandlerPorts, request: HttpRequest): Promise<HttpResponse> {
	const accept = request.header("accept") ?? "";
	const clauses = clausesOf(accept.trim() === "" ? "*/*" : accept);
	const chosen = clauses.find(({ type }) => JSON_NAMES.has(type) || V2_PROTOBUF_NAMES.has(type));
	if (chosen === undefined) {
		throw new ApiError(
			"NotAcceptable",
			`only the following media types are accepted: application/json, ${V2_PROTOBUF}`,
		);
	}
	const document = swaggerDocument(servedTypes(ports));
	if (JSON_NAMES.has(chosen.type)) {
		return cacheable(request, document, { "content-type": "application/json", vary: "Accept" });
	}
	const etag = `"${hashOf(ports, "v2")}"`;
	const headers = { "content-type": V2_PROTOBUF, vary: "Accept", etag };
	if (request.header("if-none-match") === etag) return { status: 304, headers, body: NO_BYTES };
	return { status: 200, headers, body: await ports.encodeSwagger(document) };
}

/** With an ETag, and 304 for those who have it. */
function cacheable(request: HttpRequest, document: object, headers: Readonly<Record<string, string>>): HttpResponse {
	const text = `${JSON.stringify(document)}\n`;
	const etag = `"${openApiHash(text)}"`;
	if (request.header("if-none-match") === etag) return { status: 304, headers: { ...headers, etag }, body: NO_BYTES };
	return { status: 200, headers: { ...headers, etag }, body: utf8(text) };
}
