import { expect, test } from "vitest";
import { tableOf, tablePort } from "../../testing/table-ports.ts";
import { type Flow, staleFlows } from "./stale-flows.ts";

const NODE = ["192.168.0.1"];
const dns = { protocol: "UDP", port: 53, clusterIP: "10.96.0.53", nodePort: 30053 } as const;

test.each<{ rule: string; serving: readonly string[]; flow: Partial<Flow>; isStale: boolean }>([
	{ rule: "to an endpoint that serves, it stays", serving: ["10.1.0.1"], flow: {}, isStale: false },
	{ rule: "to one that is gone, it goes", serving: ["10.1.0.2"], flow: {}, isStale: true },
	{ rule: "to none at all, it goes", serving: [], flow: {}, isStale: true },
	{
		rule: "not translated since it began before the Service, it goes",
		serving: ["10.1.0.1"],
		flow: { replySource: "10.96.0.53:53" },
		isStale: true,
	},
	{
		rule: "not translated, while there is no endpoint, it may wait for one",
		serving: [],
		flow: { replySource: "10.96.0.53:53" },
		isStale: false,
	},
	{
		rule: "by the node port likewise",
		serving: ["10.1.0.2"],
		flow: { originalDestination: "192.168.0.1:30053" },
		isStale: true,
	},
	{
		rule: "by another node's port it is that one's to care for",
		serving: [],
		flow: { originalDestination: "192.168.0.2:30053" },
		isStale: false,
	},
	{ rule: "TCP ends by itself", serving: [], flow: { protocol: "tcp" }, isStale: false },
	{ rule: "other traffic is left alone", serving: [], flow: { originalDestination: "192.0.2.1:53" }, isStale: false },
])("a flow $rule", ({ serving, flow, isStale }) => {
	const tables = new Map([["demo/dns", tableOf("demo/dns", { ...dns, servingIPs: serving })]]);
	const given: Flow = { protocol: "udp", originalDestination: "10.96.0.53:53", replySource: "10.1.0.1:53", ...flow };
	expect(staleFlows([given], { tables }, NODE)).toEqual(isStale ? [given] : []);
});

test("flows of a Service that is gone are stale", () => {
	const flow: Flow = { protocol: "udp", originalDestination: "10.96.0.53:53", replySource: "10.1.0.1:53" };
	expect(staleFlows([flow], { tables: new Map() }, NODE)).toEqual([]);
	expect(staleFlows([flow], { tables: new Map() }, NODE, [tablePort(dns)])).toEqual([flow]);
});
