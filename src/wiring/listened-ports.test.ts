/** Where a listener has to be opened for each port: which ports a pod has. */
import { expect, test } from "vitest";
import { servedService } from "../plan/service-map/served-service.ts";
import { pod, service } from "../testing/builders.ts";
import { sliceOf } from "../testing/slice-worlds.ts";
import { ListenedPorts } from "./listened-ports.ts";

const tcp = (port: number) => ({ port, protocol: "TCP" as const });
const slice = {
	...sliceOf("web-a", [pod("a", { ip: "10.1.0.1" })]),
	ports: [{ name: "p", protocol: "UDP" as const, port: 53 }],
};
const web = servedService(service("web"), [slice], "1");

test.each([
	{ rule: "what containers declare", ports: [tcp(9000)], named: false, listens: ["TCP/9000"] },
	{ rule: "80 and 8080 when nobody says anything", ports: [], named: false, listens: ["TCP/80", "TCP/8080"] },
	{ rule: "what a slice names for the address, too", ports: [tcp(9000)], named: true, listens: ["TCP/9000", "UDP/53"] },
])("a pod listens on $rule", ({ ports, named, listens }) => {
	const listened = new ListenedPorts(new Set());
	if (named) listened.name([web]);
	const found = listened.of({ ips: ["10.1.0.1"], ports });
	expect(found.map(({ port, protocol }) => `${protocol}/${port}`)).toEqual(listens);
});

test("an address is told once for each port that is new, and forgotten with its pod", () => {
	const listened = new ListenedPorts(new Set());
	expect([...listened.name([web])]).toEqual(["10.1.0.1"]);
	expect([...listened.name([web])]).toEqual([]);
	listened.forget(["10.1.0.1"]);
	expect([...listened.name([web])]).toEqual(["10.1.0.1"]);
});

test("pods that share a node's address listen on what they declare, and on nothing else", () => {
	const listened = new ListenedPorts(new Set(["10.1.0.1"]));
	listened.name([web]);
	expect(listened.of({ ips: ["10.1.0.1"], ports: [] })).toEqual([]);
});
