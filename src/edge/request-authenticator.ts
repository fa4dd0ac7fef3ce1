/** Who sends a request: by the certificate of its connection, a static token, or the token of a ServiceAccount. */
import { ApiError } from "../api/status.ts";
import type { AccountTokens, TokenUser } from "../apiserver/access/account-tokens.ts";
import type { Authenticator } from "../apiserver/http/http-api.ts";
import type { HttpRequest } from "../apiserver/http/message.ts";
import type { User } from "../apiserver/ports.ts";
import { authenticated } from "../apiserver/users.ts";
import type { TokenAuthenticator } from "./token-authenticator.ts";

export interface RequestAuthenticatorPorts {
	readonly tokens: TokenAuthenticator;
	readonly accounts: AccountTokens;
	/** The audience that this API server is. */
	readonly issuer: string;
}

export class RequestAuthenticator implements Authenticator {
	readonly #ports: RequestAuthenticatorPorts;

	constructor(ports: RequestAuthenticatorPorts) {
		this.#ports = ports;
	}

	/** One proof that holds is enough, as upstream. */
	authenticate(request: HttpRequest): User | undefined | Promise<User | undefined> {
		const { clientCertificate: certificate } = request;
		if (typeof certificate === "object" && certificate.commonName !== "") {
			return authenticated({ name: certificate.commonName, groups: certificate.organizations });
		}
		const header = request.header("authorization");
		if (header === undefined) {
			if (certificate === "untrusted") throw unauthorized();
			return undefined;
		}
		const token = /^Bearer\s+(\S+)\s*$/i.exec(header)?.[1] ?? "";
		if (token === "") throw unauthorized();
		return this.#ports.tokens.find(token) ?? this.#accountOf(token);
	}

	async userOfToken(token: string, audiences?: readonly string[]): Promise<TokenUser | undefined> {
		const { tokens, accounts, issuer } = this.#ports;
		const user = tokens.find(token);
		if (user === undefined) return accounts.userOf(token, audiences);
		// A static token is for nobody but this server.
		return audiences === undefined || audiences.includes(issuer) ? { user, audiences: [issuer] } : undefined;
	}

	async #accountOf(token: string): Promise<User> {
		const found = await this.#ports.accounts.userOf(token);
		if (found === undefined) throw unauthorized();
		return found.user;
	}
}

function unauthorized(): ApiError {
	return new ApiError("Unauthorized", "Unauthorized");
}
