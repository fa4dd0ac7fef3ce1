/** DNS messages as plain data; the wire format is behind a port. */
import type { DnsRecord, Rcode } from "../plan/dns-records/records.ts";

export interface Edns {
	readonly version: number;
	/** The most that the other side takes over UDP. Octets. */
	readonly udpSize: number;
	readonly isDnssecOk: boolean;
}

export interface Query {
	readonly id: number;
	readonly opcode: number;
	readonly isRecursionDesired: boolean;
	readonly isCheckingDisabled: boolean;
	readonly questions: readonly QueryQuestion[];
	/** Absent: the client knows no EDNS. */
	readonly edns?: Edns;
}

export interface QueryQuestion {
	/** As it was asked, with a dot at its end. */
	readonly name: string;
	/** `A`, or `TYPE65` when there is no name for it. */
	readonly type: string;
	readonly typeCode: number;
	/** 1: IN. */
	readonly classCode: number;
}

export interface Response {
	readonly query: Query;
	readonly rcode: Rcode;
	readonly isAuthoritative: boolean;
	/** Whether names of other zones can be asked for here. */
	readonly isRecursionAvailable: boolean;
	readonly answers: readonly DnsRecord[];
	readonly authority: readonly DnsRecord[];
	readonly additional: readonly DnsRecord[];
}

export type Decoded =
	| { readonly kind: "query"; readonly query: Query }
	/** No query at all, or one whose header cannot be read: there is nobody to answer. */
	| { readonly kind: "ignored" }
	/** The header can be read, the rest cannot. */
	| { readonly kind: "malformed"; readonly query: Query };

export interface DnsCodec {
	/** Never throws. */
	decode(bytes: Uint8Array): Decoded;
	/** At most `size` octets: records are left out from the end, and the answer says so. */
	encode(response: Response, size: number): Uint8Array;
}
