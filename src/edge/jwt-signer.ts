/** Tokens of ServiceAccounts as JSON Web Tokens, signed with a key of the plane. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { AccountClaims, TokenSigner } from "../apiserver/access/account-tokens.ts";

const ALGORITHM = "ES256";
/** A client sends one token with every request: what it says is read once. */
const KEPT_MAX = 1_000;

export class JwtSigner implements TokenSigner {
	readonly #privateKey: KeyObject;
	readonly #publicKey: KeyObject;
	readonly #keyId: string;
	/** By digest, so that looking up tells nothing of the tokens. */
	readonly #kept = new Map<string, AccountClaims>();

	/** @param pem An EC key of the curve P-256, in PKCS #8. */
	constructor(pem: string) {
		this.#privateKey = createPrivateKey(pem);
		this.#publicKey = createPublicKey(pem);
		const spki = this.#publicKey.export({ type: "spki", format: "der" });
		this.#keyId = createHash("sha256").update(spki).digest("base64url");
	}

	async sign(claims: AccountClaims): Promise<string> {
		// Loaded only when the first token is asked for.
		const { SignJWT } = await import("jose");
		const payload = { ...claims, aud: [...claims.aud] };
		return new SignJWT(payload).setProtectedHeader({ alg: ALGORITHM, kid: this.#keyId }).sign(this.#privateKey);
	}

	async read(token: string): Promise<AccountClaims | undefined> {
		// Anything else that is sent as a bearer token need not load what reads it.
		if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
		const digest = createHash("sha256").update(token).digest("base64");
		const known = this.#kept.get(digest);
		if (known !== undefined) return known;
		const claims = await this.#verified(token);
		if (claims === undefined) return undefined;
		if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
		this.#kept.set(digest, claims);
		return claims;
	}

	async #verified(token: string): Promise<AccountClaims | undefined> {
		const { compactVerify } = await import("jose");
		try {
			const { payload } = await compactVerify(token, this.#publicKey, { algorithms: [ALGORITHM] });
			// What this key has signed was made by `sign`.
			return JSON.parse(new TextDecoder().decode(payload)) as AccountClaims;
		} catch {
			return undefined; // Of another signer, or of none.
		}
	}
}
