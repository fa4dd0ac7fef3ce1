import { decode, encode, type Packet } from "dns-packet";
import { describe, expect, test } from "vitest";
import { dnsCodec } from "../edge/codec/dns.ts";
import type { Zone } from "../plan/dns-records/zone.ts";
import { service } from "../testing/builders.ts";
import { zoneWith } from "../testing/dns-zone.ts";
import { mutatedPacket } from "../testing/mutated-packet.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { type AnswerPorts, answerPacket, type Transport, type Upstreams } from "./answer.ts";
import { AnswerCache } from "./answer-cache.ts";

const OPT = {
	type: "OPT",
	name: ".",
	udpPayloadSize: 1232,
	extendedRcode: 0,
	ednsVersion: 0,
	flags: 0,
	flag_do: false,
	options: [],
} as const;

const MX = {
	type: "MX",
	name: "example.com",
	ttl: 60,
	data: { preference: 10, exchange: "mail.example.com" },
} as const;

async function asked(
	query: Partial<Packet> | Uint8Array,
	more: Partial<AnswerPorts> = {},
	transport: Transport = "udp",
) {
	const ports = { zone: zoneWith(3), codec: dnsCodec, random: new SeededRandom(1), isSynced: () => true, ...more };
	const bytes = query instanceof Uint8Array ? query : encode({ type: "query", id: 77, flags: 0x0100, ...query });
	const answer = await answerPacket(ports, bytes, transport);
	return answer === undefined ? undefined : { ...decode(Buffer.from(answer)), bytes: answer.length };
}

const question = (name: string, type = "A"): Partial<Packet> => ({
	questions: [{ type: type as "A", name: `${name}.default.svc.cluster.local` }],
});

describe("answerPacket()", () => {
	test("answers from the zone: same id and spelling, authoritative, no recursion", async () => {
		const answer = await asked({ questions: [{ type: "A", name: "WeB.default.svc.cluster.local" }] });
		expect(answer).toMatchObject({
			id: 77,
			rcode: "NOERROR",
			flag_aa: true,
			flag_rd: true,
			flag_ra: false,
			flag_tc: false,
		});
		expect(answer?.answers).toMatchObject([{ name: "WeB.default.svc.cluster.local", ttl: 5, data: "10.96.0.10" }]);
		expect(answer?.additionals).toEqual([]);
	});

	test.each<[string, Partial<Packet>, object]>([
		[
			"a name that there is not",
			question("nope"),
			{ rcode: "NXDOMAIN", flag_aa: true, authorities: [{ type: "SOA" }] },
		],
		[
			"a type that there is not",
			question("web", "AAAA"),
			{ rcode: "NOERROR", answers: [], authorities: [{ type: "SOA" }] },
		],
		[
			"a name of another zone",
			{ questions: [{ type: "A", name: "www.example.com" }] },
			{ rcode: "REFUSED", flag_aa: false },
		],
		["a transfer", question("web", "AXFR"), { rcode: "REFUSED" }],
		["another class", { questions: [{ type: "A", class: "CH", name: "web" }] }, { rcode: "REFUSED" }],
		["no question", {}, { rcode: "FORMERR" }],
		["another opcode", { ...question("web"), flags: 0x2000 }, { rcode: "NOTIMP" }],
		[
			"an alias that leads out, without anybody to ask",
			question("out"),
			{ rcode: "NOERROR", answers: [{ type: "CNAME", data: "www.example.com" }] },
		],
	])("answers %s", async (_, query, answer) => {
		expect(await asked(query)).toMatchObject(answer);
	});

	test("does not say that a name is not there before it knows, but answers what it knows", async () => {
		const isSynced = () => false;
		expect(await asked(question("nope"), { isSynced })).toMatchObject({
			rcode: "SERVFAIL",
			flag_aa: true,
			authorities: [{ type: "SOA" }],
		});
		expect(await asked(question("web"), { isSynced })).toMatchObject({ rcode: "NOERROR" });
	});

	test("knows EDNS, and only to those who do", async () => {
		expect(await asked({ ...question("web"), additionals: [OPT as never] })).toMatchObject({
			additionals: [{ type: "OPT", udpPayloadSize: 1232 }],
		});
		const version = await asked({ ...question("web"), additionals: [{ ...OPT, ednsVersion: 1 } as never] });
		expect(version).toMatchObject({ additionals: [{ type: "OPT", extendedRcode: 1, ednsVersion: 0 }], answers: [] });
	});

	test("cuts what does not fit, and says so; over TCP all of it comes", async () => {
		const ports = { zone: zoneWith(200) };
		const small = await asked(question("db"), ports);
		expect(small?.bytes).toBeLessThanOrEqual(512);
		expect(small).toMatchObject({ flag_tc: true, rcode: "NOERROR" });
		expect(small?.answers?.length).toBeGreaterThan(20);
		const larger = await asked({ ...question("db"), additionals: [OPT as never] }, ports);
		expect(larger?.bytes).toBeLessThanOrEqual(1232);
		expect(larger?.additionals).toMatchObject([{ type: "OPT" }]);
		const whole = await asked(question("db"), ports, "tcp");
		expect([whole?.flag_tc, whole?.answers?.length]).toEqual([false, 200]);
	});

	test("drops the addresses beside SRV records first, and says so", async () => {
		const answer = await asked(question("_sql._tcp.db", "SRV"), { zone: zoneWith(7) });
		expect(answer?.answers).toHaveLength(7);
		expect([answer?.flag_tc, (answer?.additionals?.length ?? 0) < 7]).toEqual([true, true]);
	});

	test("keeps answers for who asks the same, under its own id, until the zone changes", async () => {
		const zone = zoneWith(3);
		let lookups = 0;
		const counting = {
			version: 1,
			resolve: (each: Parameters<Zone["resolve"]>[0]) => {
				lookups++;
				return zone.resolve(each);
			},
		};
		const ports = { zone: counting, cache: new AnswerCache(), random: { next: () => 0 } };
		const first = await asked({ ...question("web"), id: 1 } as Partial<Packet>, ports);
		const before = lookups;
		const again = await asked({ ...question("web"), id: 2 } as Partial<Packet>, ports);
		expect([first?.id, again?.id, again?.answers, lookups - before]).toEqual([1, 2, first?.answers, 0]);
		counting.version = 2;
		await asked(question("web"), ports);
		expect(lookups).toBeGreaterThan(before);
	});

	test("gives each who asks bytes of its own", async () => {
		const ports = {
			zone: zoneWith(3),
			codec: dnsCodec,
			cache: new AnswerCache(),
			random: { next: () => 0 },
			isSynced: () => true,
		};
		const packet = (id: number): Uint8Array => encode({ type: "query", id, flags: 0x0100, ...question("web") });
		const answers: (Uint8Array | undefined)[] = [];
		for (const id of [1, 2, 3]) answers.push(await answerPacket(ports, packet(id), "udp"));
		expect(answers.map((bytes) => bytes?.[1])).toEqual([1, 2, 3]);
	});

	test("does not always begin with the same address", async () => {
		const ports = { random: new SeededRandom(1), zone: zoneWith(3) };
		const firsts = new Set<unknown>();
		for (let i = 0; i < 20; i++) firsts.add(JSON.stringify((await asked(question("db"), ports))?.answers?.[0]));
		expect(firsts.size).toBe(3);
	});

	test("passes on the answers of others as they are, and adds what an alias leads to", async () => {
		const address = { name: "www.example.com.", ttl: 60, data: { type: "A", address: "192.0.2.1" } } as const;
		const theirs = (id: number): Uint8Array =>
			encode({ type: "response", id, questions: [{ type: "MX", name: "example.com" }], answers: [MX] });
		const upstreams: Upstreams = {
			resolve: async () => ({ rcode: "NOERROR", answers: [address], authority: [] }),
			relay: async (packet) => theirs(((packet[0] ?? 0) << 8) | (packet[1] ?? 0)),
		};
		const other = await asked({ questions: [{ type: "MX", name: "example.com" }] }, { upstreams });
		expect(other).toMatchObject({ id: 77, flag_aa: false, answers: [{ data: { exchange: "mail.example.com" } }] });
		expect((await asked(question("out"), { upstreams }))?.answers).toMatchObject([
			{ type: "CNAME" },
			{ data: "192.0.2.1" },
		]);
		const nobody: Upstreams = { resolve: async () => undefined, relay: async () => undefined };
		const elsewhere = { questions: [{ type: "A", name: "www.example.com" }] } as const;
		expect(await asked({ questions: [...elsewhere.questions] }, { upstreams: nobody })).toMatchObject({
			rcode: "SERVFAIL",
		});
	});

	test("texts of others are written one by one, and what cannot be written is SERVFAIL", async () => {
		const texts = (...each: string[]) => {
			const data = { type: "TXT", texts: each } as const;
			const found = {
				rcode: "NOERROR",
				answers: [{ name: "www.example.com.", ttl: 60, data }],
				authority: [],
			} as const;
			return asked(question("out", "TXT"), {
				upstreams: { resolve: async () => found, relay: async () => undefined },
			});
		};
		const long = "x".repeat(200);
		const [, record] = (await texts(long, long))?.answers ?? [];
		expect(record).toMatchObject({ data: [Buffer.from(long), Buffer.from(long)] });
		expect(await texts("x".repeat(256))).toMatchObject({ rcode: "SERVFAIL", answers: [] });
	});

	test("an address is not asked of others before it is known whether it is of the cluster", async () => {
		const relayed: Uint8Array[] = [];
		const upstreams: Upstreams = {
			resolve: async () => undefined,
			relay: async (packet) => {
				relayed.push(packet);
				return undefined;
			},
		};
		const reverse = { questions: [{ type: "PTR" as const, name: "1.0.96.10.in-addr.arpa" }] };
		expect(await asked(reverse, { upstreams, isSynced: () => false })).toMatchObject({ rcode: "SERVFAIL" });
		expect(relayed).toEqual([]);
	});

	test("a dot inside a label stays one", async () => {
		const bytes = encode({ type: "query", id: 5, flags: 0x0100, ...question("a_b") });
		const dotted = Uint8Array.from(bytes, (octet) => (octet === 0x5f ? 0x2e : octet));
		const ports = { zone: zoneWith(1), codec: dnsCodec, random: new SeededRandom(1), isSynced: () => true };
		const answer = await answerPacket(ports, dotted, "udp");
		expect([(answer?.[3] ?? 0) & 0x0f, answer?.subarray(12, 16)]).toEqual([3, Buffer.from("\x03a.b", "latin1")]);
	});

	test("a Service whose external name DNS cannot carry has no name", async () => {
		const zone = zoneWith(1);
		const spec = { type: "ExternalName", externalName: `${"a".repeat(100)}.example.net`, clusterIP: "" } as const;
		zone.putService({ key: "default/wide", asOf: "1", service: service("wide", spec), slices: [] }, 1);
		expect(await asked(question("wide"), { zone })).toMatchObject({ rcode: "NXDOMAIN" });
	});

	test("says nothing to what is no query, and answers what it can read of others", async () => {
		expect(await asked(Uint8Array.of(1, 2, 3))).toBeUndefined();
		expect(await asked(Uint8Array.of(0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0))).toBeUndefined();
		expect(await asked(Uint8Array.of(0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 63))).toMatchObject({
			id: 1,
			rcode: "FORMERR",
		});
	});

	test("survives 20,000 random and mutated packets, and never answers more than is taken", async () => {
		const random = new SeededRandom(7);
		const zone = zoneWith(100);
		const valid = encode({ type: "query", id: 1, flags: 0x0100, ...question("db"), additionals: [OPT as never] });
		for (let i = 0; i < 20_000; i++) {
			const sent = mutatedPacket(valid, random);
			const answer = await answerPacket({ zone, codec: dnsCodec, random, isSynced: () => true }, sent, "udp");
			if (answer !== undefined && answer.length > 1232)
				throw new Error(`answer of ${answer.length} octets to ${Buffer.from(sent).toString("hex")}`);
		}
	});
});
