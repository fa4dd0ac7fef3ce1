import { createHash, timingSafeEqual } from "node:crypto";
import type { User } from "../apiserver/ports.ts";
import { authenticated } from "../apiserver/users.ts";

/** Knows the bearers of a few static tokens. Comparing takes the same time for every wrong token. */
export class TokenAuthenticator {
	readonly #users: readonly { readonly digest: Buffer; readonly user: User }[];

	constructor(users: Readonly<Record<string, User>>) {
		this.#users = Object.entries(users).map(([token, user]) => ({
			digest: digestOf(token),
			user: authenticated(user),
		}));
	}

	/** undefined for a token that is not known. */
	find(token: string): User | undefined {
		const digest = digestOf(token);
		let found: User | undefined;
		for (const known of this.#users) if (timingSafeEqual(known.digest, digest)) found = known.user;
		return found;
	}
}

function digestOf(token: string): Buffer {
	return createHash("sha256").update(token).digest();
}
