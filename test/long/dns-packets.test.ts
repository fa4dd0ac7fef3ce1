/**
 * The promise: whatever comes as a packet, DNS goes on, answers with no more than was asked for, and holds no more
 * memory after a million packets than after a hundred thousand.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { encode } from "dns-packet";
import { expect, test } from "vitest";
import { answerPacket } from "../../src/dns/answer.ts";
import { AnswerCache } from "../../src/dns/answer-cache.ts";
import { dnsCodec } from "../../src/edge/codec/dns.ts";
import { zoneWith } from "../../src/testing/dns-zone.ts";
import { mutatedPacket } from "../../src/testing/mutated-packet.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";

const PACKETS = 1_000_000;
const ROUNDS = 10;
const SEED = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** What the answers that are kept may take at most, and what a heap moves by itself. MiB. */
const SLACK_MIB = 48;
const TYPES = ["A", "AAAA", "SRV", "PTR", "CNAME", "TXT", "SOA", "NS"] as const;
const NAMES = ["web", "db", "_sql._tcp.db", "10-244-0-1.db", "out", "nope"];

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function validPackets(): readonly Uint8Array[] {
	const sizes = [undefined, 512, 1232, 4096];
	return TYPES.flatMap((type) =>
		NAMES.flatMap((name) =>
			sizes.map((size) => {
				const questions = [{ type, name: `${name}.default.svc.cluster.local` }];
				const edns = { type: "OPT", name: ".", udpPayloadSize: size, flags: 0, options: [] } as never;
				return encode({
					type: "query",
					id: 1,
					flags: 0x0100,
					questions,
					additionals: size === undefined ? [] : [edns],
				});
			}),
		),
	);
}

/** Octets that who sent the packet takes over UDP. */
function sizeAskedFor(packet: Uint8Array): number {
	const decoded = dnsCodec.decode(packet);
	return decoded.kind === "ignored" ? 0 : Math.max(512, decoded.query.edns?.udpSize ?? 512);
}

function randomPacket(valid: readonly Uint8Array[], random: SeededRandom): Uint8Array {
	if (random.next() < 0.1)
		return Uint8Array.from({ length: Math.floor(random.next() * 600) }, () => Math.floor(random.next() * 256));
	return mutatedPacket(valid[Math.floor(random.next() * valid.length)] ?? new Uint8Array(12), random);
}

test(`a million random and mutated packets (SEED=${SEED})`, { timeout: 600_000 }, async () => {
	const random = new SeededRandom(SEED);
	const ports = { zone: zoneWith(200), codec: dnsCodec, cache: new AnswerCache(), random, isSynced: () => true };
	const valid = validPackets();
	const heapMiB: number[] = [];
	let answered = 0;
	for (let round = 0; round < ROUNDS; round++) {
		for (let at = 0; at < PACKETS / ROUNDS; at++) {
			const packet = randomPacket(valid, random);
			const answer = await answerPacket(ports, packet, "udp");
			if (answer === undefined) continue;
			answered++;
			if (answer.length > sizeAskedFor(packet))
				throw new Error(`${answer.length} octets for ${Buffer.from(packet).toString("hex")}`);
		}
		collectGarbage();
		heapMiB.push(process.memoryUsage().heapUsed / 2 ** 20 + process.memoryUsage().arrayBuffers / 2 ** 20);
		process.stderr.write(`${((round + 1) * PACKETS) / ROUNDS} packets, ${answered} answered\n`);
	}
	expect(answered).toBeGreaterThan(PACKETS / 10);
	expect(Math.max(...heapMiB) - (heapMiB[0] ?? 0)).toBeLessThan(SLACK_MIB);
});
