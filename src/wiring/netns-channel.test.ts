/** The order in which an update reaches nodes: no connection may be sent to a pod that does not listen. */
import { expect, test } from "vitest";
import type { EchoPod } from "../edge/echo-pod.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import type { ChannelUser } from "./data-plane-channel.ts";
import type { DataPlaneUpdate, ToDataPlane } from "./data-plane-messages.ts";
import { NetnsChannel } from "./netns-channel.ts";

function echo(name: string, nodeName: string): EchoPod {
	const ips = [`10.244.0.${name.length}`];
	const key = `default/${name}`;
	return {
		key,
		uid: name,
		name,
		namespace: "default",
		nodeName,
		ips,
		labels: {},
		ports: [],
		isReady: true,
		isTerminating: false,
	};
}

function update(asOf: string, put: readonly EchoPod[], remove: readonly string[] = []): DataPlaneUpdate {
	const nothing = { put: [], remove: [] };
	return { kind: "update", asOf, pods: { put, remove }, services: nothing, nodes: nothing, namespaces: nothing };
}

function harness() {
	const done: string[] = [];
	let synced = (): void => undefined;
	const kernel = {
		decide: () => void done.push("decide"),
		commit: () => {
			done.push("rules");
			return { put: [], remove: [] };
		},
		checked: [],
		synced: () =>
			new Promise<void>((resolve) => {
				synced = resolve;
			}),
	};
	const ask = (place: string) => async (message: object) => {
		const { kind, pods } = message as { kind: string; pods?: DataPlaneUpdate["pods"] };
		const what =
			pods === undefined ? kind : [...pods.put.map(({ name }) => `+${name}`), ...pods.remove.map((key) => `-${key}`)];
		done.push(`${place} ${what}`);
	};
	const nodes = new Map([["n1", { kernel, agent: { ask: ask("n1") } }]]);
	const clock = new VirtualClock();
	let inner: ChannelUser | undefined;
	const user: ChannelUser = {
		started: () => undefined,
		received: (message) => void done.push(message.kind === "applied" ? `applied ${message.asOf}` : message.kind),
	};
	const channel = new NetnsChannel(
		{ nodes, lan: { ask: ask("lan") }, nodeAddresses: new Set() },
		clock,
		user,
		(told) => {
			inner = told;
			const post = (message: ToDataPlane): void => {
				if (message.kind === "update") told.received({ kind: "applied", asOf: message.asOf });
			};
			return { post, stop: async () => undefined };
		},
	);
	inner?.started();
	return { channel, done, clock, kernelHasRules: () => synced(), restartInner: () => inner?.started() };
}

test("pods listen before rules lead to them, and those that are gone until no rule does", async () => {
	const { channel, done, kernelHasRules } = harness();
	channel.post(update("1", [echo("a", "n1")]));
	await settle();
	expect(done.splice(0)).toEqual(["decide", "n1 +a", "lan zone", "rules"]);
	kernelHasRules();
	await settle();
	expect(done.splice(0)).toEqual(["applied 1"]);
	channel.post(update("2", [echo("bb", "n1")], ["default/a"]));
	await settle();
	expect(done.splice(0)).toEqual(["decide", "n1 +bb", "lan zone", "rules"]);
	kernelHasRules();
	await settle();
	expect(done.splice(0)).toEqual(["n1 -default/a", "applied 2"]);
});

test("a kernel that refuses its rules does not keep pods from going", async () => {
	const { channel, done, clock } = harness();
	channel.post(update("1", []));
	await settle();
	await clock.advance(2_000);
	expect(done.at(-1)).toBe("applied 1");
});

test("what a data plane that started anew is not told is gone", async () => {
	const { channel, done, kernelHasRules, restartInner } = harness();
	channel.post(update("1", [echo("a", "n1"), echo("bb", "n1")]));
	await settle();
	kernelHasRules();
	await settle();
	restartInner();
	done.splice(0);
	channel.post(update("2", [echo("bb", "n1")]));
	await settle();
	kernelHasRules();
	await settle();
	expect(done.splice(0)).toEqual(["decide", "n1 +bb", "lan zone", "rules", "n1 -default/a", "applied 2"]);
});
