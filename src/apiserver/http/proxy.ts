/** `services/NAME/proxy` and `pods/NAME/proxy`: a request goes on to a Pod, and its answer comes back. */
import { ENDPOINTS_TYPE } from "../../api/kinds/endpoints.ts";
import { hasReason } from "../../api/status.ts";
import type { Endpoints, Pod, Service } from "../../api/types/core.ts";
import type { ApiServer } from "../api-server.ts";
import type { Target } from "../ports.ts";
import { getObject } from "../verbs/read.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { type PodPort, podTarget, proxiedName, serviceTarget, unavailable } from "./proxy-target.ts";

export interface PodRequest extends PodPort {
	readonly method: string;
	/** With the query. */
	readonly path: string;
	readonly headers: Readonly<Record<string, string | readonly string[]>>;
	readonly body: Uint8Array;
	readonly signal: AbortSignal;
}

/** Asks a Pod over HTTP. Rejects when it cannot be reached, or breaks off. */
export type AskPod = (request: PodRequest) => Promise<HttpResponse & { readonly body: Uint8Array }>;

/** Of one hop, or of the caller's way to this server: not a Pod's business. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
	"authorization",
	"connection",
	"content-length",
	"host",
	"keep-alive",
	"proxy-authenticate",
	"proxy-authorization",
	"te",
	"trailer",
	"transfer-encoding",
	"upgrade",
]);

/** @throws {ApiError} For a name that is none, without endpoints, and for a Pod that does not answer. */
export async function proxyAnswer(
	server: ApiServer,
	askPod: AskPod | undefined,
	request: HttpRequest,
	target: Target,
): Promise<HttpResponse> {
	const { scheme, at } = targetOf(server, target);
	if (askPod === undefined || scheme === "https") {
		throw unavailable(
			`error trying to reach service: ${askPod === undefined ? "nothing answers" : "no Pod speaks TLS"}`,
		);
	}
	const { method, headers, signal } = request;
	const body = await request.body();
	const asked = { ...at, method, path: pathOf(request), headers: passedOn(headers ?? {}), body, signal };
	const answer = await askPod(asked).catch((error: unknown) => {
		throw unavailable(`error trying to reach service: ${error instanceof Error ? error.message : String(error)}`);
	});
	return { ...answer, headers: passedOn(answer.headers) };
}

function targetOf(server: ApiServer, target: Target): { readonly scheme: string; readonly at: PodPort } {
	const isPod = target.type.kind === "Pod";
	const { scheme, name, port } = proxiedName(target.name, isPod ? "pod" : "service");
	const object = getObject(server.ports, { ...target, name });
	if (isPod) return { scheme, at: podTarget(object as Pod, port) };
	const endpoints = endpointsOf(server, { ...target, name });
	return { scheme, at: serviceTarget(object as Service, endpoints, { id: target.name, port }, server.ports.random) };
}

function endpointsOf(server: ApiServer, target: Target): Endpoints | undefined {
	try {
		return getObject(server.ports, { ...target, type: ENDPOINTS_TYPE }) as Endpoints;
	} catch (error) {
		if (hasReason(error, "NotFound")) return undefined;
		throw error;
	}
}

/** As it came, not decoded and encoded again: what follows the subresource. */
function pathOf({ path, query }: HttpRequest): string {
	const [, rest = ""] = /^\/api\/v1\/namespaces\/[^/]+\/[^/]+\/[^/]+\/proxy(\/.*)?$/.exec(path) ?? [];
	const text = query.toString();
	return `${rest === "" ? "/" : rest}${text === "" ? "" : `?${text}`}`;
}

function passedOn(headers: PodRequest["headers"]): PodRequest["headers"] {
	return Object.fromEntries(
		Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name) && !name.startsWith("impersonate-")),
	);
}
