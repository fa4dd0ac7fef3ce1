/**
 * What every echo pod answers to an HTTP request, whatever the version.
 *
 *     /hostname            the pod's name, as text
 *     /status/503          that status, and the pod's name
 *     /delay?ms=250        the pod's name, after so many milliseconds
 *     /headers?x-a=1       the pod's name, with these response headers
 *     /healthz, /readyz    200 while its annotations let it be ready, else 503
 *     anything else        who was asked what, as JSON
 */
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from "node:http";
import { isHealthy, type Served } from "./echo-pod.ts";

export interface EchoRequest {
	readonly method: string;
	/** Path and query. */
	readonly url: string;
	readonly headers: IncomingHttpHeaders;
}

export interface EchoAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | readonly string[]>>;
	readonly body: string;
	readonly delayMs: number;
}

/** Of every answer: the pod that gave it. */
export const POD_HEADER = "sliceplane-pod";

const DELAY_MS_MAX = 60_000;
const BASE_URL = "http://pod";
/** They say how a message is framed, which is not the client's to choose. */
const FRAMING_HEADERS = new Set(["connection", "content-length", "keep-alive", "transfer-encoding", "upgrade", "te"]);

export function echoAnswer(request: EchoRequest, served: Served, nowMs: number): EchoAnswer {
	const { pathname, searchParams } = urlOf(request.url);
	const { name } = served.pod;
	const status = /^\/status\/([0-9]+)$/.exec(pathname)?.[1];
	if (status !== undefined) return statusAnswer(Number(status), name);
	switch (pathname) {
		case "/hostname":
			return text(200, name);
		case "/delay":
			return delayAnswer(searchParams.get("ms"), name);
		case "/headers":
			return headersAnswer(searchParams, name);
		case "/healthz":
		case "/readyz":
			return isHealthy(served.pod, nowMs) ? text(200, "ok") : text(503, "not ready");
		default:
			return json(described(request, served));
	}
}

/** Clients can ask for anything, such as `//`, which is no URL. */
function urlOf(path: string): URL {
	return new URL(URL.canParse(path, BASE_URL) ? path : "/", BASE_URL);
}

function statusAnswer(status: number, name: string): EchoAnswer {
	if (status >= 200 && status <= 599) return text(status, name);
	return text(400, `/status/${status}: want a status from 200 to 599`);
}

function delayAnswer(ms: string | null, name: string): EchoAnswer {
	const delayMs = ms === null || ms === "" ? Number.NaN : Number(ms);
	if (delayMs >= 0 && delayMs <= DELAY_MS_MAX) return { ...text(200, name), delayMs };
	return text(400, `/delay: want ms from 0 to ${DELAY_MS_MAX}, such as /delay?ms=250`);
}

/** One name may come several times, as in an answer. */
function headersAnswer(asked: URLSearchParams, name: string): EchoAnswer {
	const names = [...new Set([...asked.keys()].map((key) => key.toLowerCase()))];
	const wrong = names.find((key) => !isHeader(key, valuesOf(asked, key)));
	if (wrong !== undefined) {
		return text(400, `/headers: ${JSON.stringify(wrong)}: want a header's name and value, such as /headers?x-a=1`);
	}
	const answer = text(200, name);
	return {
		...answer,
		headers: { ...answer.headers, ...Object.fromEntries(names.map((key) => [key, valuesOf(asked, key)])) },
	};
}

function valuesOf(asked: URLSearchParams, name: string): readonly string[] {
	return [...asked].flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
}

function isHeader(name: string, values: readonly string[]): boolean {
	if (FRAMING_HEADERS.has(name) || name === POD_HEADER) return false;
	try {
		validateHeaderName(name);
		for (const value of values) validateHeaderValue(name, value);
		return true;
	} catch {
		return false;
	}
}

function described({ method, url, headers }: EchoRequest, { pod, ip, port }: Served): object {
	const { name, namespace, nodeName, labels } = pod;
	return { pod: name, namespace, node: nodeName, labels, ip, port, method, path: url, headers };
}

function text(status: number, body: string): EchoAnswer {
	return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body, delayMs: 0 };
}

function json(body: object): EchoAnswer {
	return {
		status: 200,
		headers: { "content-type": "application/json" },
		body: `${JSON.stringify(body)}\n`,
		delayMs: 0,
	};
}
