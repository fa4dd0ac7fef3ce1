/** Expectations of DNS: a real packet goes in, and what comes out is read by the library. */
import { type Answer, type DecodedPacket, decode, encode, type OptAnswer } from "dns-packet";
import type { DnsExpectation } from "../format/expectations.ts";
import type { ScenarioRun } from "../run.ts";
import { countFits } from "./counts.ts";
import { sameTexts } from "./matching.ts";
import { type Problem, problem, unless } from "./verdict.ts";

/** Queries to see whether the first record is not always the same. */
const TRIES = 20;

interface Reply {
	readonly packet: DecodedPacket;
	readonly bytes: number;
}

/** Between two tries to get the right answer. */
const AGAIN_MS = 100;

/** Asks again until the answers are right, or time is up. */
export async function judgeDns(
	run: ScenarioRun,
	expected: readonly DnsExpectation[],
	patienceMs: number,
): Promise<readonly Problem[]> {
	const problems: Problem[] = [];
	for (const [index, wanted] of expected.entries()) {
		const path = `dns[${index}]`;
		let found = await judgeOnce(run, wanted, path);
		for (let leftMs = wanted.within_ms ?? patienceMs; found.length > 0 && leftMs > 0; leftMs -= AGAIN_MS) {
			await run.plane.clock.advance(AGAIN_MS);
			found = await judgeOnce(run, wanted, path);
		}
		problems.push(...found);
	}
	return problems;
}

async function judgeOnce(run: ScenarioRun, wanted: DnsExpectation, path: string): Promise<readonly Problem[]> {
	const reply = await asked(run, wanted);
	if (reply === undefined) return [problem(path, wanted, "no answer")];
	return [
		...judgeRcode(wanted, reply, path),
		...judgeAnswers(wanted, reply, path),
		...judgeSections(wanted, reply, path),
		...(await judgeFirst(run, wanted, path)),
	];
}

async function asked(
	{ plane }: ScenarioRun,
	{ q, transport = "udp", edns = "none" }: DnsExpectation,
): Promise<Reply | undefined> {
	const [type = "A", name = ""] = q.split(" ");
	const query = encode({
		type: "query",
		id: 1,
		flags: 0x0100,
		questions: [{ type: type as "A", name: name.replace(/\.$/, "") }],
		...(edns === "none" ? {} : { additionals: [opt(edns)] }),
	});
	const answer = await plane.dns.answer(query, transport);
	return answer === undefined ? undefined : { packet: decode(Buffer.from(answer)), bytes: answer.length };
}

function opt(udpPayloadSize: number): OptAnswer {
	return {
		type: "OPT",
		name: ".",
		udpPayloadSize,
		extendedRcode: 0,
		ednsVersion: 0,
		flags: 0,
		flag_do: false,
		options: [],
	} as const;
}

function judgeRcode(
	{ rcode, rcode_in: some, tc, max_bytes: max }: DnsExpectation,
	{ packet, bytes }: Reply,
	path: string,
): readonly Problem[] {
	// The library reads it; its types do not tell.
	const found = "rcode" in packet ? String(packet.rcode) : "";
	return [
		...unless(rcode === undefined || rcode === found, `${path}.rcode`, rcode, found),
		...unless(some === undefined || some.some((each) => each === found), `${path}.rcode_in`, some, found),
		...unless(tc === undefined || tc === packet.flag_tc, `${path}.tc`, tc, packet.flag_tc),
		...unless(max === undefined || bytes <= max, `${path}.max_bytes`, max, bytes),
	];
}

function judgeAnswers(wanted: DnsExpectation, { packet }: Reply, path: string): readonly Problem[] {
	const answers = packet.answers ?? [];
	const texts = answers.map((record) => textIn(record, answers));
	const {
		answer,
		answer_contains: some,
		answer_first: first,
		answer_count: count,
		answer_targets: targets,
		ports,
	} = wanted;
	const srv = answers.flatMap((record) => (record.type === "SRV" ? [record.data] : []));
	const foundTargets = [...new Set(srv.map(({ target }) => dotted(target)))];
	const foundPorts = [...new Set(srv.map(({ port }) => port))];
	const addresses = answers.filter(({ type }) => type === "A" || type === "AAAA");
	return [
		...unless(answer === undefined || sameTexts(answer, texts), `${path}.answer`, answer, texts),
		...unless(some === undefined || some.every((text) => texts.includes(text)), `${path}.answer_contains`, some, texts),
		...unless(first === undefined || texts[0] === first, `${path}.answer_first`, first, texts),
		...unless(count === undefined || countFits(count, answers.length), `${path}.answer_count`, count, answers.length),
		...unless(
			targets === undefined || sameTexts(targets, foundTargets),
			`${path}.answer_targets`,
			targets,
			foundTargets,
		),
		...unless(
			ports === undefined || sameTexts(ports.map(String), foundPorts.map(String)),
			`${path}.ports`,
			ports,
			foundPorts,
		),
		...unless(wanted.no_address !== true || addresses.length === 0, `${path}.no_address`, "no address", texts),
	];
}

function judgeSections(wanted: DnsExpectation, { packet }: Reply, path: string): readonly Problem[] {
	const authority = packet.authorities ?? [];
	const additional = (packet.additionals ?? []).flatMap((record) =>
		record.type === "A" || record.type === "AAAA" ? [record.data] : [],
	);
	const soa = authority.find((record) => record.type === "SOA");
	const minimum = soa?.type === "SOA" ? soa.data.minimum : undefined;
	const soaTtl = soa?.type === "SOA" ? soa.ttl : undefined;
	const ttl = Math.max(0, ...(packet.answers ?? []).map((record) => ("ttl" in record ? (record.ttl ?? 0) : 0)));
	const atMost = (max: number | undefined, found: number | undefined): boolean =>
		max === undefined || (found !== undefined && found <= max);
	return [
		...unless(wanted.authority === undefined || soa !== undefined, `${path}.authority`, wanted.authority, authority),
		...unless(
			wanted.additional === undefined || sameTexts(wanted.additional, additional),
			`${path}.additional`,
			wanted.additional,
			additional,
		),
		...unless(atMost(wanted.soa_minimum_max, minimum), `${path}.soa_minimum_max`, wanted.soa_minimum_max, minimum),
		...unless(atMost(wanted.soa_ttl_max, soaTtl), `${path}.soa_ttl_max`, wanted.soa_ttl_max, soaTtl),
		...unless(atMost(wanted.ttl_max, ttl), `${path}.ttl_max`, wanted.ttl_max, ttl),
	];
}

async function judgeFirst(run: ScenarioRun, wanted: DnsExpectation, path: string): Promise<readonly Problem[]> {
	if (wanted.first_varies !== true) return [];
	const firsts = new Set<string>();
	for (let tries = 0; tries < TRIES; tries++) {
		const [first] = (await asked(run, wanted))?.packet.answers ?? [];
		if (first !== undefined) firsts.add(textOf(first));
	}
	return unless(firsts.size > 1, `${path}.first_varies`, "not always the same", [...firsts]);
}

/** The value alone; where an alias is among the answers, each with its type. */
function textIn(record: Answer, answers: readonly Answer[]): string {
	const hasAlias = answers.length > 0 && answers.some(({ type }) => type === "CNAME");
	return hasAlias ? `${record.type} ${textOf(record)}` : textOf(record);
}

function textOf(record: Answer): string {
	switch (record.type) {
		case "A":
		case "AAAA":
			return record.data;
		case "CNAME":
		case "PTR":
		case "NS":
			return dotted(record.data);
		case "SRV": {
			const { priority = 0, weight = 0, port, target } = record.data;
			return `${priority} ${weight} ${port} ${dotted(target)}`;
		}
		case "TXT":
			return [record.data].flat().map(String).join("");
		default:
			return JSON.stringify("data" in record ? record.data : "");
	}
}

function dotted(name: string): string {
	return name.endsWith(".") ? name : `${name}.`;
}
