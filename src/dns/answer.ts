/** Answers one query from the zone: what RFC 1035, EDNS and the specification of the cluster's zone ask for. */
import { type Random, randomBelow } from "../kernel/random.ts";
import type { DnsRecord, Rcode } from "../plan/dns-records/records.ts";
import { isReverse } from "../plan/dns-records/reverse.ts";
import type { Zone } from "../plan/dns-records/zone.ts";
import { type AnswerCache, ORDERS } from "./answer-cache.ts";
import type { DnsCodec, Query, Response } from "./message.ts";

export interface AnswerPorts {
	readonly zone: Pick<Zone, "resolve" | "version">;
	readonly codec: DnsCodec;
	readonly random: Random;
	/** Before every list is there, a name that is not known may yet be one. */
	isSynced(): boolean;
	/** Keeps answers as they went out; absent: each is made anew. */
	readonly cache?: AnswerCache;
	/** Other servers; absent: names of other zones are refused. */
	readonly upstreams?: Upstreams;
}

export interface Upstreams {
	/** What they say of a name that an alias leads to; undefined when none of them answers. */
	resolve(name: string, type: string): Promise<UpstreamAnswer | undefined>;
	/** The answer of one of them to the client's own packet, as it came but for the id; undefined when none answers. */
	relay(packet: Uint8Array, transport: Transport): Promise<Uint8Array | undefined>;
}

export interface UpstreamAnswer {
	readonly rcode: Rcode;
	readonly answers: readonly DnsRecord[];
	readonly authority: readonly DnsRecord[];
}

export type Transport = "udp" | "tcp";

/** Without EDNS nobody takes more over UDP. Octets. */
const UDP_SIZE_MIN = 512;
/** What passes every network without being cut. */
export const UDP_SIZE_MAX = 1232;
const TCP_SIZE_MAX = 65_535;
const IN = 1;

/** The bytes of the answer; undefined when none is to be sent. Never rejects for what is in the packet. */
export async function answerPacket(
	ports: AnswerPorts,
	bytes: Uint8Array,
	transport: Transport,
): Promise<Uint8Array | undefined> {
	// An answer that was given before every list was there is not kept.
	const cache = ports.isSynced() ? ports.cache : undefined;
	const { version } = ports.zone;
	const order = randomBelow(ports.random, ORDERS);
	const known = cache?.get(bytes, transport, order, version);
	if (known !== undefined) return known;
	const decoded = ports.codec.decode(bytes);
	if (decoded.kind === "ignored") return undefined;
	const size = sizeFor(decoded.query, transport);
	const isOthers = decoded.kind === "query" && isForOthers(ports, decoded.query);
	const relayed = isOthers ? await ports.upstreams?.relay(bytes, transport) : undefined;
	if (relayed !== undefined && relayed.length <= (transport === "udp" ? askedSize(decoded.query) : size))
		return relayed;
	const response =
		decoded.kind === "malformed" ? failed(ports, decoded.query, "FORMERR") : await answer(ports, decoded.query);
	const made = encoded(ports, response, size);
	// What comes from elsewhere has its own time to live.
	const isKept = response.isAuthoritative && version === ports.zone.version && !isOutside(ports, response);
	if (isKept) cache?.put(bytes, transport, order, made);
	return made;
}

/** A record that cannot be written must not cost more than its answer. */
function encoded(ports: AnswerPorts, response: Response, size: number): Uint8Array {
	try {
		return ports.codec.encode(response, size);
	} catch {
		return ports.codec.encode(failed(ports, response.query, "SERVFAIL"), size);
	}
}

/** A name of another zone, which there is somebody to ask for. */
function isForOthers(ports: AnswerPorts, query: Query): boolean {
	const [question] = query.questions;
	if (ports.upstreams === undefined || question === undefined || refusalOf(query) !== undefined) return false;
	return !mayBeOurs(ports, question.name) && ports.zone.resolve(question).kind === "foreign";
}

/** Before every list is there, an address that nobody is known to have may be of the cluster. */
function mayBeOurs(ports: AnswerPorts, name: string): boolean {
	return !ports.isSynced() && isReverse(name.toLowerCase());
}

/** Whether other servers were, or would have been, asked for a part of it. */
function isOutside({ zone }: AnswerPorts, { query }: Response): boolean {
	const [question] = query.questions;
	const result = question === undefined ? undefined : zone.resolve(question);
	return result?.kind === "answer" && result.outside !== undefined;
}

async function answer(ports: AnswerPorts, query: Query): Promise<Response> {
	const refusal = refusalOf(query);
	if (refusal !== undefined) return failed(ports, query, refusal);
	const [question] = query.questions;
	if (question === undefined) return failed(ports, query, "FORMERR");
	const result = ports.zone.resolve(question);
	if (result.kind === "foreign") {
		const isUnknown = ports.upstreams !== undefined || mayBeOurs(ports, question.name);
		return failed(ports, query, isUnknown ? "SERVFAIL" : "REFUSED");
	}
	if (result.rcode === "NXDOMAIN" && !ports.isSynced())
		return {
			...failed(ports, query, "SERVFAIL"),
			isAuthoritative: true,
			isRecursionAvailable: false,
			authority: result.authority,
		};
	const outside =
		result.outside === undefined ? undefined : await ports.upstreams?.resolve(result.outside, question.type);
	return {
		...failed(ports, query, result.rcode),
		isAuthoritative: true,
		// As CoreDNS does: what is said of the own zone took no recursion.
		isRecursionAvailable: false,
		answers: rotated([...result.answers, ...(outside?.answers ?? [])], ports.random),
		authority: outside === undefined || outside.answers.length > 0 ? result.authority : outside.authority,
		additional: result.additional,
	};
}

/** What is refused before any name is looked at. */
function refusalOf({ opcode, questions, edns }: Query): Rcode | undefined {
	if (opcode !== 0) return "NOTIMP";
	if (edns !== undefined && edns.version !== 0) return "BADVERS";
	const [question] = questions;
	if (questions.length !== 1 || question === undefined) return "FORMERR";
	if (question.classCode !== IN) return "REFUSED";
	return question.type === "AXFR" || question.type === "IXFR" ? "REFUSED" : undefined;
}

/** An answer without records. */
function failed(ports: AnswerPorts, query: Query, rcode: Rcode): Response {
	return {
		query,
		rcode,
		isAuthoritative: false,
		isRecursionAvailable: ports.upstreams !== undefined,
		answers: [],
		authority: [],
		additional: [],
	};
}

/** Addresses in turn, so that clients which take the first one spread; aliases stay in front. */
function rotated(answers: readonly DnsRecord[], random: Random): readonly DnsRecord[] {
	const aliases = answers.filter(({ data }) => data.type === "CNAME");
	const others = answers.filter(({ data }) => data.type !== "CNAME");
	if (others.length < 2 || !others.every(({ data }) => data.type === "A" || data.type === "AAAA")) return answers;
	const start = randomBelow(random, others.length);
	return [...aliases, ...others.slice(start), ...others.slice(0, start)];
}

function sizeFor(query: Query, transport: Transport): number {
	return transport === "tcp" ? TCP_SIZE_MAX : Math.min(UDP_SIZE_MAX, askedSize(query));
}

/** What the client takes over UDP. */
function askedSize({ edns }: Query): number {
	return Math.max(UDP_SIZE_MIN, edns?.udpSize ?? UDP_SIZE_MIN);
}
