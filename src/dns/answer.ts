/** Answers one query from the zone: what RFC 1035, EDNS and the specification of the cluster's zone ask for. */
import type { Random } from "../kernel/random.ts";
import { randomBelow } from "../kernel/random.ts";
import type { DnsRecord, Rcode } from "../plan/dns-records/records.ts";
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
	/** Asks other servers; absent: names of other zones are refused. */
	readonly forward?: Forward;
}

/** What other servers say of a name; undefined when none of them answers. */
export type Forward = (
	name: string,
	type: string,
) => Promise<
	| { readonly rcode: Rcode; readonly answers: readonly DnsRecord[]; readonly authority: readonly DnsRecord[] }
	| undefined
>;

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
	const response =
		decoded.kind === "malformed" ? failed(ports, decoded.query, "FORMERR") : await answer(ports, decoded.query);
	const made = fitted(ports.codec, response, sizeFor(decoded.query, transport));
	// What comes from elsewhere has its own time to live.
	const isKept = response.isAuthoritative && version === ports.zone.version && !isOutside(ports, response);
	if (isKept) cache?.put(bytes, transport, order, made);
	return made;
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
	if (result.kind === "foreign") return forwarded(ports, query, question);
	if (result.rcode === "NXDOMAIN" && !ports.isSynced())
		return {
			...failed(ports, query, "SERVFAIL"),
			isAuthoritative: true,
			isRecursionAvailable: false,
			authority: result.authority,
		};
	const outside = result.outside === undefined ? undefined : await ports.forward?.(result.outside, question.type);
	return {
		...failed(ports, query, result.rcode),
		isAuthoritative: true,
		isRecursionAvailable: false,
		answers: rotated([...result.answers, ...(outside?.answers ?? [])], ports.random),
		authority: outside === undefined || outside.answers.length > 0 ? result.authority : outside.authority,
		additional: result.additional,
	};
}

async function forwarded(
	ports: AnswerPorts,
	query: Query,
	{ name, type }: { readonly name: string; readonly type: string },
): Promise<Response> {
	if (ports.forward === undefined) return failed(ports, query, "REFUSED");
	const found = await ports.forward(name, type);
	if (found === undefined) return failed(ports, query, "SERVFAIL");
	return { ...failed(ports, query, found.rcode), answers: found.answers, authority: found.authority };
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
		isTruncated: false,
		isRecursionAvailable: ports.forward !== undefined,
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

function sizeFor({ edns }: Query, transport: Transport): number {
	if (transport === "tcp") return TCP_SIZE_MAX;
	if (edns === undefined) return UDP_SIZE_MIN;
	return Math.min(UDP_SIZE_MAX, Math.max(UDP_SIZE_MIN, edns.udpSize));
}

/** Leaves out records from the end until it fits, and says so: the client asks again over TCP. */
function fitted(codec: DnsCodec, response: Response, size: number): Uint8Array {
	const whole = codec.encode(response);
	if (whole.length <= size) return whole;
	const sections = [response.answers, response.authority, response.additional];
	const total = sections.reduce((sum, { length }) => sum + length, 0);
	let [low, high] = [0, total];
	let best = codec.encode(cut(response, 0));
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		const bytes = codec.encode(cut(response, middle));
		if (bytes.length <= size) [best, low] = [bytes, middle];
		else high = middle - 1;
	}
	return best;
}

function cut(response: Response, records: number): Response {
	const answers = response.answers.slice(0, records);
	const authority = response.authority.slice(0, Math.max(0, records - answers.length));
	const additional = response.additional.slice(0, Math.max(0, records - answers.length - authority.length));
	return { ...response, isTruncated: true, answers, authority, additional };
}
