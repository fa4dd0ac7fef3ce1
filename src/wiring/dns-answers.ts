/** What a DNS server of the plane answers: of a zone, in the wire format, each answer kept as it went out. */
import { type AnswerPorts, answerPacket } from "../dns/answer.ts";
import { AnswerCache } from "../dns/answer-cache.ts";
import { dnsCodec } from "../edge/codec/dns.ts";
import type { DnsServerPorts } from "../edge/dns-server.ts";

export function dnsAnswers(
	ports: Pick<AnswerPorts, "zone" | "random" | "isSynced" | "upstreams">,
): DnsServerPorts["answer"] {
	const answering = { ...ports, codec: dnsCodec, cache: new AnswerCache() };
	return (packet, transport) => answerPacket(answering, packet, transport);
}
