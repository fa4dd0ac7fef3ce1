/** Asks other DNS servers for names of other zones: over UDP, over TCP when an answer was cut, one server after the other. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { type DecodedPacket, decode, encode, type Packet } from "dns-packet";
import { type Transport, UDP_SIZE_MAX, type UpstreamAnswer, type Upstreams } from "../dns/answer.ts";
import { type Random, randomBelow } from "../kernel/random.ts";
import type { DnsRecord, Rcode, RecordData } from "../plan/dns-records/records.ts";

export interface Upstream {
	readonly host: string;
	readonly port: number;
}

/** One server has so long to answer before the next one is asked. */
const TRY_MS = 2_000;
/** Questions to other servers under way at once; more are told that it does not work now. */
const ASKED_MAX = 1_000;
const HEADER_LENGTH = 12;
const RECURSION_DESIRED = 0x0100;
const EDNS = { type: "OPT", name: ".", extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false } as const;
const RCODES: readonly Rcode[] = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

/** @param upstreams In the order in which they are asked; the next one when one does not answer, or fails. */
export function forwarder(upstreams: readonly Upstream[], random: Random): Upstreams {
	let underWay = 0;
	const relay = async (packet: Uint8Array, transport: Transport): Promise<Uint8Array | undefined> => {
		if (underWay >= ASKED_MAX) return undefined;
		underWay++;
		try {
			for (const upstream of upstreams) {
				const answer = await asked(upstream, withId(packet, randomBelow(random, 65_536)), transport).catch(
					() => undefined,
				);
				if (answer !== undefined && !isFailure(answer)) return withId(answer, idOf(packet));
			}
			return undefined;
		} finally {
			underWay--;
		}
	};
	return upstreamsBy(relay);
}

/** By a way to ask one of them. */
export function upstreamsBy(relay: Upstreams["relay"]): Upstreams {
	return {
		relay,
		resolve: async (name, type) => {
			const answer = await relay(queryFor(name, type), "tcp");
			return answer === undefined ? undefined : answerIn(answer);
		},
	};
}

function queryFor(name: string, type: string): Uint8Array {
	const query: Packet = {
		type: "query",
		flags: RECURSION_DESIRED,
		questions: [{ type: type as "A", name: name.replace(/\.$/, "") }],
		additionals: [{ ...EDNS, udpPayloadSize: UDP_SIZE_MAX, options: [] }],
	};
	return encode(query);
}

/** A client over TCP takes what does not fit into a datagram; another one asks again. */
async function asked(upstream: Upstream, query: Uint8Array, transport: Transport): Promise<Uint8Array> {
	const answer = await overUdp(upstream, query);
	return transport === "tcp" && isTruncated(answer) ? overTcp(upstream, query) : answer;
}

/** An answer must be to this question: anybody can send to a port. */
function isAnswerTo(answer: Uint8Array, query: Uint8Array): boolean {
	if (answer.length < HEADER_LENGTH || idOf(answer) !== idOf(query) || ((answer[2] ?? 0) & 0x80) === 0) return false;
	const end = questionEnd(query);
	return lowerCase(answer.subarray(HEADER_LENGTH, end)) === lowerCase(query.subarray(HEADER_LENGTH, end));
}

/** Where the question of a query ends; its name has no pointers. */
function questionEnd(packet: Uint8Array): number {
	let at = HEADER_LENGTH;
	for (let length = packet[at] ?? 0; length !== 0; length = packet[at] ?? 0) at += 1 + length;
	return at + 5;
}

function lowerCase(bytes: Uint8Array): string {
	return Buffer.from(bytes).toString("latin1").toLowerCase();
}

function idOf(packet: Uint8Array): number {
	return ((packet[0] ?? 0) << 8) | (packet[1] ?? 0);
}

/** A copy. */
function withId(packet: Uint8Array, id: number): Uint8Array {
	const copy = Uint8Array.from(packet);
	copy[0] = id >> 8;
	copy[1] = id & 0xff;
	return copy;
}

function isTruncated(packet: Uint8Array): boolean {
	return ((packet[2] ?? 0) & 0x02) !== 0;
}

function isFailure(packet: Uint8Array): boolean {
	return RCODES[(packet[3] ?? 0) & 0x0f] === "SERVFAIL";
}

function answerIn(bytes: Uint8Array): UpstreamAnswer | undefined {
	try {
		const packet = decode(Buffer.from(bytes));
		const rcode = RCODES[(packet.flags ?? 0) & 0x0f];
		if (rcode === undefined) return undefined;
		return { rcode, answers: recordsOf(packet.answers), authority: recordsOf(packet.authorities) };
	} catch {
		return undefined;
	}
}

function overUdp({ host, port }: Upstream, query: Uint8Array): Promise<Uint8Array> {
	const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
	return new Promise<Uint8Array>((resolve, reject) => {
		const late = setTimeout(() => reject(new Error("no answer")), TRY_MS);
		socket.once("close", () => clearTimeout(late));
		socket.on("error", reject);
		socket.on("message", (bytes) => {
			if (isAnswerTo(bytes, query)) resolve(bytes);
		});
		socket.connect(port, host, () => socket.send(query));
	}).finally(() => socket.close());
}

function overTcp({ host, port }: Upstream, query: Uint8Array): Promise<Uint8Array> {
	const socket = connect({ host, port });
	return new Promise<Uint8Array>((resolve, reject) => {
		socket.setTimeout(TRY_MS, () => reject(new Error("no answer")));
		socket.once("error", reject).once("end", () => reject(new Error("cut off")));
		let read: Buffer = Buffer.alloc(0);
		socket.on("data", (chunk: Buffer) => {
			read = Buffer.concat([read, chunk]);
			if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
			const answer = read.subarray(2, 2 + read.readUInt16BE(0));
			if (isAnswerTo(answer, query)) resolve(answer);
			else reject(new Error("an answer to something else"));
		});
		const length = Buffer.alloc(2);
		length.writeUInt16BE(query.length);
		socket.write(Buffer.concat([length, query]));
	}).finally(() => socket.destroy());
}

/** Kinds of records that are passed on. */
function recordsOf(records: DecodedPacket["answers"] = []): readonly DnsRecord[] {
	return records.flatMap((record) => {
		const data = dataOf(record);
		const ttl = "ttl" in record ? (record.ttl ?? 0) : 0;
		return data === undefined ? [] : [{ name: `${record.name.replace(/\.$/, "")}.`, ttl, data }];
	});
}

function dataOf(record: NonNullable<DecodedPacket["answers"]>[number]): RecordData | undefined {
	switch (record.type) {
		case "A":
		case "AAAA":
			return { type: record.type, address: record.data };
		case "CNAME":
		case "PTR":
		case "NS":
			return { type: record.type, target: `${record.data.replace(/\.$/, "")}.` };
		case "SRV": {
			const { priority = 0, weight = 0, port, target } = record.data;
			return { type: "SRV", priority, weight, port, target: `${target.replace(/\.$/, "")}.` };
		}
		case "TXT":
			return { type: "TXT", texts: [record.data].flat().map((text) => Buffer.from(text).toString("latin1")) };
		case "SOA": {
			const { mname, rname, serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0 } = record.data;
			return { type: "SOA", mname: `${mname}.`, rname: `${rname}.`, serial, refresh, retry, expire, minimum };
		}
		default:
			return undefined;
	}
}
