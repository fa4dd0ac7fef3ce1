/** The API over HTTP, but without sockets: what test servers and test planes have in common. */
import { DISCOVERED_TYPES } from "../api/resource-table.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "../apiserver/authorization.ts";
import { HttpApi } from "../apiserver/http/http-api.ts";
import type { HttpRequest } from "../apiserver/http/message.ts";
import type { User } from "../apiserver/ports.ts";
import { TokenAuthenticator } from "../edge/token-authenticator.ts";
import type { ContainerLogs } from "../machinery/container-logs.ts";
import { bodyCodecs, encodeSwagger } from "../wiring/body-codecs.ts";
import { VERSION } from "../wiring/version.ts";

/** May do everything; its token is its name. */
export const ADMIN: User = { name: "admin", groups: [MASTERS_GROUP, AUTHENTICATED_GROUP] };

/** May do what every user may; its token is its name. */
const NOBODY = { name: "nobody", groups: [AUTHENTICATED_GROUP] };

export interface TestApiPorts {
	readonly server: ApiServer;
	readonly logs: ContainerLogs;
	/** What `/readyz` says is not ready. Default: everything is. */
	readonly unready?: (() => string | undefined) | undefined;
}

export function testApi({ server, logs, unready = () => undefined }: TestApiPorts): HttpApi {
	const users = new TokenAuthenticator({ [ADMIN.name]: ADMIN, [NOBODY.name]: NOBODY });
	return new HttpApi({
		server,
		types: DISCOVERED_TYPES,
		logs,
		codecs: bodyCodecs,
		authenticate: (request) => users.authenticate(request),
		version: VERSION.api,
		address: () => "127.0.0.1:6443",
		metricsText: () => Promise.resolve("# no metrics\n"),
		encodeSwagger,
		unready,
	});
}

export interface PlainRequest {
	readonly method: string;
	/** With its query. */
	readonly path: string;
	/** By lower-case name. */
	readonly header: (name: string) => string | undefined;
	readonly body: Uint8Array;
	/** Aborts when the client goes away. */
	readonly signal: AbortSignal;
}

export function httpRequest({ path, body, ...request }: PlainRequest): HttpRequest {
	const [before = "", ...after] = path.split("?");
	return {
		...request,
		path: before,
		query: new URLSearchParams(after.join("?")),
		body: () => Promise.resolve(body),
	};
}
