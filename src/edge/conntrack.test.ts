import { expect, test } from "vitest";
import { flowOf } from "./conntrack.ts";

test.each([
	[
		"ipv4     2 udp      17 29 src=10.0.0.1 dst=10.96.0.53 sport=4000 dport=53 src=10.244.0.7 dst=10.0.0.1 sport=5353 dport=4000 mark=0 use=1",
		"10.0.0.1:4000 10.96.0.53:53 10.244.0.7:5353",
	],
	[
		"ipv6     10 udp      17 9 src=fd00::1 dst=fd96::a sport=9 dport=53 [UNREPLIED] src=fd96::a dst=fd00::1 sport=53 dport=9 mark=0 use=1",
		"fd00::1:9 [fd96::a]:53 [fd96::a]:53",
	],
	["conntrack v1.4.7 (conntrack-tools): 0 flow entries have been shown.", undefined],
])("reads %s", (line, text) => {
	const flow = flowOf(line);
	const shown = flow && `${flow.source.ip}:${flow.source.port} ${flow.originalDestination} ${flow.replySource}`;
	expect(shown).toBe(text);
});
