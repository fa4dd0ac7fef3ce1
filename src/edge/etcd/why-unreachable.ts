/** Why a server of etcd cannot be connected to, in words for people: one more connection is made, to look. */
import { connect, type Socket } from "node:net";
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from "node:tls";
import { familyOf } from "../../api/ip.ts";
import { systemCode, systemReason } from "../system-reason.ts";

export interface TlsAccess {
	readonly ca?: Buffer;
	readonly cert?: Buffer;
	readonly key?: Buffer;
}

/** How long the other side may take over each step. */
const LOOK_MS = 1_000;
/** What every client of HTTP/2 says first, with settings that change nothing. */
const PREFACE = Buffer.concat([
	Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

type Seen =
	| { readonly kind: "answered"; readonly bytes: Buffer }
	| { readonly kind: "failed"; readonly error: Error }
	| { readonly kind: "closed" }
	| { readonly kind: "silent" };

/** @returns A clause such as `nobody listens there (connection refused)`. Never rejects. */
export async function whyUnreachable(url: string, tls: TlsAccess): Promise<string> {
	const { protocol, hostname, port } = new URL(url);
	const isSecure = protocol === "https:";
	const place = { host: bareHost(hostname), port: Number(port || (isSecure ? 443 : 80)) };
	const seen = await look(isSecure ? connectTls(tlsOptions(place, tls)) : connect(place), isSecure);
	return isSecure ? reasonOfTls(seen, tls) : reasonOfPlain(seen);
}

/** `[::1]` is written so in URLs only. */
export function bareHost(host: string): string {
	return host.startsWith("[") ? host.slice(1, -1) : host;
}

function tlsOptions(place: { readonly host: string; readonly port: number }, tls: TlsAccess): ConnectionOptions {
	const identity = (_name: string, certificate: Parameters<typeof checkServerIdentity>[1]): Error | undefined =>
		checkServerIdentity(place.host, certificate);
	// No name is asked for by an address: a certificate has it, or not.
	const servername = familyOf(place.host) === undefined ? place.host : "";
	return { ...place, ...tls, servername, ALPNProtocols: ["h2"], checkServerIdentity: identity };
}

/** The first bytes that come back, or what comes instead. */
function look(socket: Socket, isSecure: boolean): Promise<Seen> {
	return new Promise((resolve) => {
		const end = (seen: Seen): void => {
			resolve(seen);
			socket.destroy();
		};
		socket.setTimeout(LOOK_MS, () => end({ kind: "silent" }));
		socket.once(isSecure ? "secureConnect" : "connect", () => socket.write(PREFACE));
		socket.once("data", (bytes: Buffer) => end({ kind: "answered", bytes }));
		socket.once("end", () => end({ kind: "closed" }));
		socket.once("close", () => end({ kind: "closed" }));
		// It stays: an error may follow what has ended the look.
		socket.on("error", (error: Error) => end({ kind: "failed", error }));
	});
}

const NOT_ETCD = "what listens there is not etcd";

function reasonOfPlain(seen: Seen): string {
	if (seen.kind === "failed") return connectionReason(seen.error);
	if (seen.kind === "silent") return "it does not answer";
	if (seen.kind === "answered" && isSettings(seen.bytes)) return "it has begun to answer only now";
	// A server of TLS ends the connection, with an alert of TLS or with a word in HTTP/1.
	const isTls = seen.kind === "closed" || seen.bytes[0] === 0x15 || seen.bytes.includes("HTTPS server");
	return isTls ? "it closes connections without TLS: want https:// in --etcd-servers" : NOT_ETCD;
}

const NOT_TLS = "it does not speak TLS: want http:// in --etcd-servers";

function reasonOfTls(seen: Seen, tls: TlsAccess): string {
	if (seen.kind === "failed") return tlsReason(seen.error, tls) ?? connectionReason(seen.error);
	if (seen.kind === "silent") return "it does not answer";
	// One of TLS says what it does not like before it closes.
	if (seen.kind === "closed") return NOT_TLS;
	return isSettings(seen.bytes) ? "it has begun to answer only now" : NOT_ETCD;
}

function isSettings(bytes: Buffer): boolean {
	return bytes[3] === 4;
}

const CONNECTION: Readonly<Record<string, string>> = {
	ECONNREFUSED: "nobody listens there (connection refused)",
	ECONNRESET: "it breaks the connection off",
	ENOTFOUND: "there is no host of this name",
	EAI_AGAIN: "the host's name cannot be looked up now",
	EHOSTUNREACH: "there is no way to the host",
	ENETUNREACH: "there is no way to its network",
	ETIMEDOUT: "it does not answer",
};

function connectionReason(error: Error): string {
	return CONNECTION[systemCode(error)] ?? systemReason(error);
}

const UNKNOWN_SIGNERS: ReadonlySet<string> = new Set([
	"CERT_SIGNATURE_FAILURE",
	"CERT_UNTRUSTED",
	"DEPTH_ZERO_SELF_SIGNED_CERT",
	"SELF_SIGNED_CERT_IN_CHAIN",
	"UNABLE_TO_GET_ISSUER_CERT",
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Undefined: it is not TLS that failed. */
function tlsReason(error: Error, { ca, cert }: TlsAccess): string | undefined {
	const code = systemCode(error);
	if (UNKNOWN_SIGNERS.has(code)) {
		return ca === undefined
			? "its certificate is not trusted: want --etcd-cafile with the certificate of who signed it"
			: "its certificate is not trusted: it is not signed by --etcd-cafile";
	}
	if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return `its certificate is not valid now (${code})`;
	if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
		return "its certificate is for other names than the one in --etcd-servers";
	const [, alert] = /ALERT_(\w+)$/.exec(code) ?? [];
	if (alert !== undefined && cert === undefined) {
		return "it wants a certificate of its clients: want --etcd-certfile and --etcd-keyfile";
	}
	if (alert !== undefined) {
		return `it does not take the certificate of --etcd-certfile (${alert.toLowerCase().replaceAll("_", " ")})`;
	}
	if (code.startsWith("ERR_SSL_") || code === "EPROTO") return NOT_TLS;
	return undefined;
}
