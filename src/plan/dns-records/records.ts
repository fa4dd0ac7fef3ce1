/** What DNS is asked, and what it answers, in the words of RFC 1035 and as plain data. */

export type RecordData =
	| { readonly type: "A" | "AAAA"; readonly address: string }
	| { readonly type: "CNAME" | "PTR" | "NS"; readonly target: string }
	| {
			readonly type: "SRV";
			readonly priority: number;
			readonly weight: number;
			readonly port: number;
			readonly target: string;
	  }
	/** Each is at most 255 octets. */
	| { readonly type: "TXT"; readonly texts: readonly string[] }
	| {
			readonly type: "SOA";
			readonly mname: string;
			readonly rname: string;
			readonly serial: number;
			readonly refresh: number;
			readonly retry: number;
			readonly expire: number;
			readonly minimum: number;
	  };

/** Names end in a dot. */
export interface DnsRecord {
	readonly name: string;
	/** Seconds. */
	readonly ttl: number;
	readonly data: RecordData;
}

export type Rcode = "NOERROR" | "FORMERR" | "SERVFAIL" | "NXDOMAIN" | "NOTIMP" | "REFUSED" | "BADVERS";

/** What a zone knows of a question. */
export interface ZoneAnswer {
	readonly rcode: "NOERROR" | "NXDOMAIN";
	readonly answers: readonly DnsRecord[];
	readonly authority: readonly DnsRecord[];
	readonly additional: readonly DnsRecord[];
	/** The last alias leads out of the zone: who has an upstream asks it for this name and adds what it says. */
	readonly outside?: string;
}

export type ZoneResult =
	| ({ readonly kind: "answer" } & ZoneAnswer)
	/** The name is in no zone of this server. */
	| { readonly kind: "foreign" };
