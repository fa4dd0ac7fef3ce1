/**
 * SOCKS5, as far as a way to connect goes: greeting, user and password, CONNECT.
 *
 * @see RFC 1928, RFC 1929
 */
import type { ByteReader } from "./byte-reader.ts";

export interface Credentials {
	readonly user: string;
	readonly password: string;
}

export interface SocksAsked {
	readonly host: string;
	readonly port: number;
}

export type SocksGreeting =
	| { readonly kind: "asked"; readonly asked: SocksAsked }
	/** The client was told so; its connection is to be closed. */
	| { readonly kind: "refused"; readonly why: string };

const VERSION = 5;
const NO_ACCEPTABLE_METHOD = 0xff;
const USER_PASSWORD = 2;
const AUTH_VERSION = 1;
const CONNECT = 1;

export const REPLY = {
	succeeded: 0,
	hostUnreachable: 4,
	refused: 5,
	commandNotSupported: 7,
	addressNotSupported: 8,
} as const;

/** Reads up to the request, the first byte of which (the version) has been read. */
export async function socksGreeting(
	reader: ByteReader,
	send: (bytes: Uint8Array) => void,
	isKnown: (credentials: Credentials) => boolean,
): Promise<SocksGreeting> {
	const methods = await reader.take(await reader.byte());
	if (!methods.includes(USER_PASSWORD)) {
		send(Uint8Array.of(VERSION, NO_ACCEPTABLE_METHOD));
		return { kind: "refused", why: "the client offers no user and password" };
	}
	send(Uint8Array.of(VERSION, USER_PASSWORD));
	const authVersion = await reader.byte();
	if (authVersion !== AUTH_VERSION) {
		send(Uint8Array.of(AUTH_VERSION, 1));
		return { kind: "refused", why: `version ${authVersion} of user and password: want ${AUTH_VERSION}` };
	}
	const user = await reader.text(await reader.byte());
	const password = await reader.text(await reader.byte());
	if (!isKnown({ user, password })) {
		send(Uint8Array.of(AUTH_VERSION, 1));
		return { kind: "refused", why: "wrong user or password" };
	}
	send(Uint8Array.of(AUTH_VERSION, 0));
	const [, command = 0] = await reader.take(3);
	const host = await hostOf(reader, await reader.byte());
	const [high = 0, low = 0] = await reader.take(2);
	if (host === undefined || command !== CONNECT) {
		send(socksReply(host === undefined ? REPLY.addressNotSupported : REPLY.commandNotSupported));
		return {
			kind: "refused",
			why: host === undefined ? "an unknown kind of address" : `command ${command}: want CONNECT`,
		};
	}
	return { kind: "asked", asked: { host, port: high * 256 + low } };
}

/** The address it tells means nothing: the connection has none of its own. */
export function socksReply(code: (typeof REPLY)[keyof typeof REPLY]): Uint8Array {
	return Uint8Array.of(VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0);
}

async function hostOf(reader: ByteReader, type: number): Promise<string | undefined> {
	if (type === 1) return (await reader.take(4)).join(".");
	if (type === 3) return reader.text(await reader.byte());
	if (type !== 4) return undefined;
	const bytes = await reader.take(16);
	const groups = Array.from({ length: 8 }, (_, i) =>
		((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16),
	);
	return groups.join(":");
}
