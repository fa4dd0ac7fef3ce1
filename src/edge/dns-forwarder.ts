/** Asks other DNS servers for names of other zones: over UDP, over TCP when an answer was cut, one server after the other. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { type DecodedPacket, decode, encode, type Packet } from "dns-packet";
import type { Forward } from "../dns/answer.ts";
import type { Random } from "../kernel/random.ts";
import { randomBelow } from "../kernel/random.ts";
import type { DnsRecord, Rcode, RecordData } from "../plan/dns-records/records.ts";

export interface Upstream {
	readonly host: string;
	readonly port: number;
}

/** One server has so long to answer before the next one is asked. */
const TRY_MS = 2_000;
/** Questions to other servers under way at once; more are told that it does not work now. */
const ASKED_MAX = 1_000;
const RCODES: readonly Rcode[] = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

/** @param upstreams In the order in which they are asked; the next one when one does not answer, or fails. */
export function forwarder(upstreams: readonly Upstream[], random: Random): Forward {
	let underWay = 0;
	return async (name, type) => {
		if (underWay >= ASKED_MAX) return undefined;
		underWay++;
		try {
			for (const upstream of upstreams) {
				const packet = await asked(upstream, { name, type }, random).catch(() => undefined);
				const rcode = packet === undefined ? undefined : rcodeOf(packet);
				if (packet === undefined || rcode === undefined || rcode === "SERVFAIL") continue;
				return { rcode, answers: recordsOf(packet.answers), authority: recordsOf(packet.authorities) };
			}
			return undefined;
		} finally {
			underWay--;
		}
	};
}

interface Question {
	readonly name: string;
	readonly type: string;
}

async function asked(upstream: Upstream, { name, type }: Question, random: Random): Promise<DecodedPacket> {
	const query: Packet = {
		type: "query",
		id: randomBelow(random, 65_536),
		flags: 0x0100,
		questions: [{ type: type as "A", name: name.replace(/\.$/, "") }],
	};
	const packet = await overUdp(upstream, query);
	return packet.flag_tc ? overTcp(upstream, query) : packet;
}

/** An answer must be to this question: anybody can send to a port. */
function isAnswerTo(packet: DecodedPacket, query: Packet): boolean {
	const [given] = packet.questions ?? [];
	const [wanted] = query.questions ?? [];
	return (
		packet.id === query.id &&
		packet.type === "response" &&
		given?.name.toLowerCase() === wanted?.name.toLowerCase() &&
		given?.type === wanted?.type
	);
}

function overUdp({ host, port }: Upstream, query: Packet): Promise<DecodedPacket> {
	const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
	return new Promise<DecodedPacket>((resolve, reject) => {
		const late = setTimeout(() => reject(new Error("no answer")), TRY_MS);
		socket.once("close", () => clearTimeout(late));
		socket.on("error", reject);
		socket.on("message", (bytes) => {
			try {
				const packet = decode(bytes);
				if (isAnswerTo(packet, query)) resolve(packet);
			} catch {
				// Not the answer that is waited for.
			}
		});
		socket.connect(port, host, () => socket.send(encode(query)));
	}).finally(() => socket.close());
}

function overTcp({ host, port }: Upstream, query: Packet): Promise<DecodedPacket> {
	const socket = connect({ host, port });
	return new Promise<DecodedPacket>((resolve, reject) => {
		socket.setTimeout(TRY_MS, () => reject(new Error("no answer")));
		socket.once("error", reject).once("end", () => reject(new Error("cut off")));
		let read: Buffer = Buffer.alloc(0);
		socket.on("data", (chunk: Buffer) => {
			read = Buffer.concat([read, chunk]);
			if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
			try {
				const packet = decode(read.subarray(2));
				if (isAnswerTo(packet, query)) resolve(packet);
				else reject(new Error("an answer to something else"));
			} catch (error) {
				reject(error);
			}
		});
		const bytes = encode(query);
		const length = Buffer.alloc(2);
		length.writeUInt16BE(bytes.length);
		socket.write(Buffer.concat([length, bytes]));
	}).finally(() => socket.destroy());
}

function rcodeOf(packet: DecodedPacket): Rcode | undefined {
	return RCODES[(packet.flags ?? 0) & 0x0f];
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
			return { type: "TXT", text: [record.data].flat().map(String).join("") };
		case "SOA": {
			const { mname, rname, serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0 } = record.data;
			return { type: "SOA", mname: `${mname}.`, rname: `${rname}.`, serial, refresh, retry, expire, minimum };
		}
		default:
			return undefined;
	}
}
