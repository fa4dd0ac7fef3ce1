/** The API over HTTP, but without sockets: what test servers and test planes have in common. */
import { generateKeyPairSync } from "node:crypto";
import { DISCOVERED_TYPES } from "../api/resource-table.ts";
import { AccountTokens } from "../apiserver/access/account-tokens.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { HttpApi } from "../apiserver/http/http-api.ts";
import type { HttpRequest } from "../apiserver/http/message.ts";
import type { User } from "../apiserver/ports.ts";
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "../apiserver/users.ts";
import { YamlReader } from "../edge/codec/yaml-reader.ts";
import { JwtSigner } from "../edge/jwt-signer.ts";
import { RequestAuthenticator } from "../edge/request-authenticator.ts";
import { TokenAuthenticator } from "../edge/token-authenticator.ts";
import type { ContainerLogs } from "../machinery/container-logs.ts";
import { bodyCodecs, encodeSwagger } from "../wiring/body-codecs.ts";
import { VERSION } from "../wiring/version.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Made once: every test server may have the same. */
let accountKey: string | undefined;

function keyOfAccounts(): string {
	accountKey ??= generateKeyPairSync("ec", { namedCurve: "P-256" })
		.privateKey.export({ type: "pkcs8", format: "pem" })
		.toString();
	return accountKey;
}

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

/** A door to the tokens of ServiceAccounts, with a key that all tests of a process share. */
export function testAccountTokens(server: ApiServer): AccountTokens {
	return new AccountTokens({ ...server.ports, issuer: ISSUER, signer: new JwtSigner(keyOfAccounts()) });
}

export function testApi({ server, logs, unready = () => undefined }: TestApiPorts): HttpApi {
	const tokens = new TokenAuthenticator({ [ADMIN.name]: ADMIN, [NOBODY.name]: NOBODY });
	const accountTokens = testAccountTokens(server);
	return new HttpApi({
		server,
		types: DISCOVERED_TYPES,
		logs,
		codecs: bodyCodecs(new YamlReader()),
		authenticator: new RequestAuthenticator({ tokens, accounts: accountTokens, issuer: ISSUER }),
		accountTokens,
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
		remoteAddress: "127.0.0.1",
	};
}
