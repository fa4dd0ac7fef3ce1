import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../api/status.ts";
import type { HttpRequest } from "../apiserver/http/message.ts";
import type { User } from "../apiserver/ports.ts";

/** Knows the bearers of a few static tokens. Comparing takes the same time for every wrong token. */
export class TokenAuthenticator {
	readonly #users: readonly { readonly digest: Buffer; readonly user: User }[];

	constructor(users: Readonly<Record<string, User>>) {
		this.#users = Object.entries(users).map(([token, user]) => ({ digest: digestOf(token), user }));
	}

	/** undefined without credentials. @throws {ApiError} `Unauthorized` for a token that is not known. */
	authenticate(request: HttpRequest): User | undefined {
		const header = request.header("authorization");
		if (header === undefined) return undefined;
		const token = /^Bearer\s+(\S+)\s*$/i.exec(header)?.[1];
		const digest = digestOf(token ?? "");
		let found: User | undefined;
		for (const known of this.#users) if (timingSafeEqual(known.digest, digest)) found = known.user;
		if (found === undefined) throw new ApiError("Unauthorized", "Unauthorized");
		return found;
	}
}

function digestOf(token: string): Buffer {
	return createHash("sha256").update(token).digest();
}
