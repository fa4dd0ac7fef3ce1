/** Whose certificate a connection has shown. */
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../apiserver/http/message.ts";

/** By connection: its certificate does not change. */
const clientCertificates = new WeakMap<TLSSocket, ClientCertificate | "untrusted" | "none">();

export function clientCertificateOf(socket: TLSSocket): ClientCertificate | "untrusted" | undefined {
	const known = clientCertificates.get(socket) ?? readCertificate(socket);
	clientCertificates.set(socket, known);
	return known === "none" ? undefined : known;
}

function readCertificate(socket: TLSSocket): ClientCertificate | "untrusted" | "none" {
	// Without one, Node gives an empty object, or null once the socket is gone.
	const certificate: Partial<PeerCertificate> | null = socket.getPeerCertificate();
	if (certificate?.subject === undefined) return "none";
	if (!socket.authorized) return "untrusted";
	const { CN, O } = certificate.subject as { readonly CN?: string | string[]; readonly O?: string | string[] };
	return { commonName: listOf(CN).at(-1) ?? "", organizations: listOf(O) };
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
	if (value === undefined) return [];
	return typeof value === "string" ? [value] : value;
}
