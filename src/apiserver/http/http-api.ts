/** The API over HTTP: one function from a request to a response, whatever the socket is. */

import { ApiError, badRequest, internalError } from "../../api/status.ts";
import { utf8 } from "../../kernel/bytes.ts";
import type { Counter, Histogram } from "../../kernel/metrics.ts";
import type { ContainerLogs } from "../../machinery/container-logs.ts";
import type { AccountTokens, TokenUser } from "../access/account-tokens.ts";
import type { ApiServer } from "../api-server.ts";
import { impersonated } from "../impersonation.ts";
import type { RequestContext, User } from "../ports.ts";
import { upToDate } from "../required-revision.ts";
import { ANONYMOUS } from "../users.ts";
import { WatchHub } from "../watch/watch-hub.ts";
import { errorAnswer } from "./answer.ts";
import type { BodyCodecs } from "./body.ts";
import { EncodedObjects } from "./encoded-objects.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { wantsPretty } from "./negotiate.ts";
import { handlePath, type PathHandlerPorts } from "./path-handler.ts";
import type { AskPod } from "./proxy.ts";
import { DEFAULT_REQUEST_RATE, type RequestRate, RequestRates } from "./request-rates.ts";
import { DEFAULT_IN_FLIGHT, type InFlightLimits, RequestsInFlight } from "./requests-in-flight.ts";
import { handleResource } from "./resource-handler.ts";
import { type Route, routeOf } from "./route.ts";
import { Turns } from "./turns.ts";
import { type UpgradeAnswer, upgradedPod } from "./upgrade.ts";
import { errorFrame } from "./watch-body.ts";

export interface HttpApiPorts extends Omit<PathHandlerPorts, "store" | "nowMs" | "customTypes"> {
	readonly server: ApiServer;
	readonly logs: ContainerLogs;
	/** Absent: no Pod answers. */
	readonly askPod?: AskPod;
	readonly codecs: BodyCodecs & { readonly stringifyYaml: (value: unknown) => Promise<string> };
	readonly authenticator: Authenticator;
	readonly accountTokens: AccountTokens;
	readonly inFlight?: InFlightLimits;
	readonly rate?: RequestRate;
}

/** Knows who asks. */
export interface Authenticator {
	/** undefined without credentials. @throws {ApiError} `Unauthorized` for credentials that are not known. */
	authenticate(request: HttpRequest): User | undefined | Promise<User | undefined>;
	/** Whose token it is; without `audiences`, for this API server. */
	userOfToken(token: string, audiences?: readonly string[]): Promise<TokenUser | undefined>;
}

/** Why the clock of a request is stopped; a reason of our own spares the making of an error with a stack. */
const ANSWERED = "answered";
/** The longest that anything but a watch may take. */
const REQUEST_MS_MAX = 60_000;

export class HttpApi {
	readonly #ports: HttpApiPorts;
	readonly #hub: WatchHub;
	readonly #encoded: EncodedObjects;
	readonly #inFlight: RequestsInFlight;
	readonly #rates: RequestRates;
	readonly #turns: Turns;
	readonly #requests: Counter;
	readonly #durations: Histogram;

	constructor(ports: HttpApiPorts) {
		this.#ports = ports;
		const { metrics } = ports.server.ports;
		this.#hub = new WatchHub(ports.server.ports, errorFrame);
		ports.server.customTypes.onChange((space) => this.#hub.endAll(space));
		this.#encoded = new EncodedObjects(metrics);
		this.#inFlight = new RequestsInFlight(metrics, ports.inFlight ?? DEFAULT_IN_FLIGHT);
		this.#rates = new RequestRates(ports.server.ports, ports.rate ?? DEFAULT_REQUEST_RATE);
		this.#turns = new Turns(ports.server.ports.clock);
		this.#requests = metrics.counter({
			name: "apiserver_request_total",
			help: "Answered requests by method and code.",
			labelNames: ["verb", "code"],
		});
		this.#durations = metrics.histogram({
			name: "apiserver_request_duration_seconds",
			help: "Time from the request's headers to its answer; of watches, to their first headers.",
			labelNames: ["verb"],
		});
	}

	/** Open watches. */
	get watches(): number {
		return this.#hub.size;
	}

	/** Answers every request; never rejects. */
	async handle(request: HttpRequest): Promise<HttpResponse> {
		const { clock } = this.#ports.server.ports;
		const startedMs = clock.monotonicMs();
		const warnings = new Set<string>();
		const response = await this.#answer(request, warnings).catch((error: unknown) => this.#failed(request, error));
		this.#requests.add(1, { verb: request.method, code: String(response.status) });
		this.#durations.observe((clock.monotonicMs() - startedMs) / 1000, { verb: request.method });
		return { ...response, headers: { ...this.#commonHeaders(request, warnings), ...response.headers } };
	}

	/** What a request to upgrade its connection may become. Never rejects. */
	async upgrade(request: HttpRequest): Promise<UpgradeAnswer> {
		try {
			const user = await this.#userOf(request);
			const { server } = this.#ports;
			const pod = await upToDate(server.ports, async () => upgradedPod(server, request, user));
			return { kind: "port-forward", pod };
		} catch (error) {
			return { kind: "refused", response: this.#failed(request, error) };
		}
	}

	/** Whoever is refused for a proof that does not hold counts as nobody. */
	#knownUser(request: HttpRequest): User | Promise<User> {
		const refused = (error: unknown): never => {
			this.#rates.enter(request, ANONYMOUS);
			throw error;
		};
		try {
			const found = this.#userOf(request);
			return found instanceof Promise ? found.catch(refused) : found;
		} catch (error) {
			return refused(error);
		}
	}

	/** At once where a caller is known at once: what follows need not wait for a turn. */
	#userOf(request: HttpRequest): User | Promise<User> {
		const { authorizer } = this.#ports.server.ports;
		const caller = this.#ports.authenticator.authenticate(request);
		if (caller instanceof Promise) return caller.then((user) => impersonated(request, user ?? ANONYMOUS, authorizer));
		return impersonated(request, caller ?? ANONYMOUS, authorizer);
	}

	async #answer(request: HttpRequest, warnings: Set<string>): Promise<HttpResponse> {
		const found = this.#knownUser(request);
		const user = found instanceof Promise ? await found : found;
		this.#rates.enter(request, user);
		const route = routeOf(request.path);
		const leave = this.#inFlight.enter(request, route, user);
		try {
			return await this.#handled(request, route, user, warnings);
		} finally {
			leave();
		}
	}

	async #handled(request: HttpRequest, route: Route, user: User, warnings: Set<string>): Promise<HttpResponse> {
		const { server } = this.#ports;
		const limitMs = timeLimitMs(request);
		const nowMs = (): number => server.ports.clock.wallMs();
		if (route.kind === "bad-name") throw badRequest(`invalid path ${JSON.stringify(request.path)}`);
		if (route.kind === "path") {
			server.ports.authorizer.authorizePath(user, request.method.toLowerCase(), request.path);
			return handlePath(
				{ ...this.#ports, customTypes: server.customTypes.discovered, store: server.ports.store, nowMs },
				request,
			);
		}
		const context: RequestContext = {
			user,
			warn: (text) => warnings.add(text),
			manager: managerOf(request.header("user-agent")),
			signal: request.signal,
		};
		const ports = {
			server,
			hub: this.#hub,
			encoded: this.#encoded,
			body: { ...codecsOf(user, this.#ports.codecs), turn: () => this.#turns.next() },
			logs: this.#ports.logs,
			accountTokens: this.#ports.accountTokens,
			userOfToken: (token: string, audiences?: readonly string[]) =>
				this.#ports.authenticator.userOfToken(token, audiences),
			...(this.#ports.askPod === undefined ? {} : { askPod: this.#ports.askPod }),
			stringifyYaml: this.#ports.codecs.stringifyYaml,
			nowMs,
		};
		const handled = (): Promise<HttpResponse> => handleResource(ports, request, route, context);
		return this.#inTime(wantsNewest(request) ? upToDate(server.ports, handled) : handled(), limitMs);
	}

	/** The answer, or 504 when it takes longer than the client, or the server, will wait. */
	async #inTime(answer: Promise<HttpResponse>, limitMs: number): Promise<HttpResponse> {
		const over = new AbortController();
		const late = this.#ports.server.ports.clock.sleep(limitMs, over.signal).then(
			(): never => {
				throw new ApiError("Timeout", "Timeout: request did not complete within the allotted timeout", {
					details: {},
				});
			},
			() => answer,
		);
		try {
			return await Promise.race([answer, late]);
		} finally {
			over.abort(ANSWERED);
			late.catch(() => undefined);
		}
	}

	#failed(request: HttpRequest, error: unknown): HttpResponse {
		const known = error instanceof ApiError ? error : internalError("the request could not be handled", error);
		if (!(error instanceof ApiError)) {
			this.#ports.server.ports.log.error("Failed to handle a request", {
				method: request.method,
				path: request.path,
				error,
			});
		}
		return errorAnswer(known, wantsPretty(request.query, request.header("user-agent")));
	}

	#commonHeaders(request: HttpRequest, warnings: ReadonlySet<string>): Record<string, string | readonly string[]> {
		return {
			"audit-id": auditIdOf(request) ?? this.#ports.server.ports.ids.uid(),
			"cache-control": "no-cache, private",
			...(warnings.size > 0 ? { warning: warningHeaders(warnings) } : {}),
		};
	}
}

/** Whoever sends long texts keeps nobody waiting but themselves. */
function codecsOf({ name }: User, codecs: BodyCodecs): BodyCodecs {
	return { ...codecs, parseYaml: (text, repeated) => codecs.parseYaml(text, repeated, name) };
}

/** Reads that say how new the state must be are content with that; pages go on in what another server may have cut. */
function wantsNewest({ method, query }: HttpRequest): boolean {
	const isRead = method === "GET" || method === "HEAD";
	return !isRead || (query.get("resourceVersion") ?? "") === "" || query.has("continue");
}

/** Bytes: what a manager's name may have. */
const MANAGER_BYTES_MAX = 128;

/** Who writes, when the request names no manager: the program, without its version. */
function managerOf(userAgent = ""): string {
	const [program = ""] = userAgent.split("/");
	let name = "";
	for (const character of program.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")) {
		if (utf8(name + character).length > MANAGER_BYTES_MAX) break;
		name += character;
	}
	return name;
}

const AUDIT_ID_CHARACTERS_MAX = 64;

/** The client's own id for the request, when it has one that is fit for a header. */
function auditIdOf(request: HttpRequest): string | undefined {
	const id = request.header("audit-id");
	return id !== undefined && id.length <= AUDIT_ID_CHARACTERS_MAX && /^[\w.-]+$/.test(id) ? id : undefined;
}

/** Characters of all warnings of one answer together; past it each is cut. */
const WARNING_CHARACTERS_MAX = 4096;
const CUT_WARNING_CHARACTERS = 256;

function warningHeaders(warnings: ReadonlySet<string>): readonly string[] {
	const texts = [...warnings].map((text) => text.replace(/[\p{Cc}]+/gu, " "));
	const total = texts.reduce((sum, text) => sum + text.length, 0);
	const shown = total <= WARNING_CHARACTERS_MAX ? texts : texts.map((text) => text.slice(0, CUT_WARNING_CHARACTERS));
	const kept = shown.slice(0, Math.ceil(WARNING_CHARACTERS_MAX / CUT_WARNING_CHARACTERS));
	return kept.map((text) => `299 - "${text.replace(/["\\]/g, "\\$&")}"`);
}

/** Go's durations. */
const DURATION_UNITS_MS: Readonly<Record<string, number>> = {
	ns: 1e-6,
	us: 1e-3,
	"\u00b5s": 1e-3,
	ms: 1,
	s: 1000,
	m: 60_000,
	h: 3_600_000,
};

/** The smaller of the client's `timeout` and the server's own limit; 0 names none. @throws {ApiError} `BadRequest` */
function timeLimitMs(request: HttpRequest): number {
	const text = request.query.get("timeout");
	if (text === null || text === "") return REQUEST_MS_MAX;
	if (!/^(0|(\d+(\.\d+)?(ns|us|\u00b5s|ms|s|m|h))+)$/.test(text)) {
		const wanted = 'want a duration such as "32s"';
		throw badRequest(`invalid timeout specified in the request URL: ${JSON.stringify(text)}: ${wanted}`);
	}
	let totalMs = 0;
	for (const [, amount, , unit = "s"] of text.matchAll(/(\d+(\.\d+)?)(ns|us|\u00b5s|ms|s|m|h)/g)) {
		totalMs += Number(amount) * (DURATION_UNITS_MS[unit] ?? 0);
	}
	return totalMs > 0 ? Math.min(REQUEST_MS_MAX, totalMs) : REQUEST_MS_MAX;
}
