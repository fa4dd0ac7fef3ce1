import { describe, expect, test } from "vitest";
import { keyOf } from "../api/resource.ts";
import type { Pod } from "../api/types/core.ts";
import { matchesSelector } from "../plan/service-selector.ts";
import { pod, service } from "../testing/builders.ts";
import { concernedServices, podChange } from "./pod-change.ts";

const old = pod("a", { ip: "10.0.0.1" });
let version = 1;
const changed = (traits: Parameters<typeof pod>[1], metadata: Partial<Pod["metadata"]> = {}): Pod =>
	pod("a", { ip: "10.0.0.1", ...traits, metadata: { resourceVersion: `${++version}`, ...metadata } });

describe("podChange()", () => {
	test.each<[string, Pod]>([
		["a resync", old],
		["an annotation", changed({}, { annotations: { a: "b" } })],
		["the phase alone", changed({ status: { phase: "Failed" } })],
		["another image", changed({ spec: { containers: [{ name: "c", image: "new" }] } })],
		[
			"another condition",
			changed({ status: { conditions: [...(old.status?.conditions ?? []), { type: "X", status: "True" }] } }),
		],
		["the Node's name", changed({ node: "n2" })],
		["the host's address", changed({ status: { hostIP: "192.0.2.1" } as Pod["status"] & object })],
		["podIP alone", changed({ status: { podIP: "10.0.0.9" } })],
		["the generation", changed({}, { generation: 2 })],
		["owners", changed({}, { ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x", uid: "x" }] })],
		[
			"why and since when it is ready",
			changed({ status: { conditions: [{ type: "Ready", status: "True", reason: "R" }] } }),
		],
		["an empty hostname for none", changed({ spec: { hostname: "", subdomain: "" } })],
	])("ignores %s", (_, next) => {
		expect(podChange(old, next)).toBeUndefined();
	});

	test.each<[string, Pod]>([
		["readiness", changed({ isReady: false })],
		["an address", changed({ ip: "10.0.0.2" })],
		["the begin of its end", changed({ isTerminating: true })],
		["a Ready condition that is gone", changed({ status: { conditions: [] } })],
		["a Ready condition that is Unknown", changed({ status: { conditions: [{ type: "Ready", status: "Unknown" }] } })],
		["a second address", changed({ ips: ["10.0.0.1", "fd00::1"] })],
		["no address any more", changed({ status: { podIPs: [] } })],
		["another spelling of its address", changed({ ips: ["010.0.0.1"] })],
	])("reports %s", (_, next) => {
		expect(podChange(old, next)).toEqual({ namespace: "default", labels: { app: "web" }, showsInEndpoint: true });
	});

	test("reports every update of a Pod that terminates", () => {
		const terminating = changed({ isTerminating: true });
		expect(podChange(terminating, changed({ isTerminating: true }))?.showsInEndpoint).toBe(true);
	});

	test.each<[string, Pod, Pod]>([
		[
			"a Pod that was not ready and fails",
			changed({ isReady: false }),
			changed({ isReady: false, status: { phase: "Failed", conditions: [] } }),
		],
		[
			"False for Unknown",
			changed({ status: { conditions: [{ type: "Ready", status: "Unknown" }] } }),
			changed({ isReady: false }),
		],
		[
			"a missing Ready condition for one that is False",
			changed({ status: { conditions: [] } }),
			changed({ isReady: false }),
		],
	])("ignores %s", (_, before, next) => {
		expect(podChange(before, next)).toBeUndefined();
	});

	test("reports addresses that change places", () => {
		const [both, turned] = [changed({ ips: ["10.0.0.1", "fd00::1"] }), changed({ ips: ["fd00::1", "10.0.0.1"] })];
		expect(podChange(both, turned)?.showsInEndpoint).toBe(true);
	});

	test("reports a Pod that is new or gone with its labels", () => {
		expect(podChange(undefined, old)).toEqual({ namespace: "default", labels: { app: "web" }, showsInEndpoint: true });
	});

	test("reports other labels and another look at once", () => {
		const next = changed({ labels: { app: "db" }, isReady: false });
		expect(podChange(old, next)).toMatchObject({
			labels: { app: "db" },
			oldLabels: { app: "web" },
			showsInEndpoint: true,
		});
	});

	test("takes a Pod that had no labels for one of which nothing was known", () => {
		const { labels: _, ...bare } = old.metadata;
		const change = podChange({ ...old, metadata: bare }, changed({}));
		expect(change).toMatchObject({ labels: { app: "web" } });
		expect(change).not.toHaveProperty("oldLabels");
	});

	test.each<[string, Pod]>([
		["labels", changed({ labels: { app: "db" } })],
		["the hostname", changed({ spec: { hostname: "h" } })],
		["the subdomain", changed({ spec: { subdomain: "s" } })],
	])("reports a change of %s with the labels before", (_, next) => {
		expect(podChange(old, next)).toMatchObject({ oldLabels: { app: "web" }, showsInEndpoint: false });
	});
});

describe("concernedServices()", () => {
	const services = ["web", "db"].map((app) => service(app, { selector: { app } }));
	const all = service("all", { selector: { tier: "x" } });
	const matching = (_: string, labels: Readonly<Record<string, string>>) =>
		[...services, all].filter((s) => matchesSelector(s.spec.selector ?? {}, labels));
	const [before, after] = [
		{ app: "web", tier: "x" },
		{ app: "db", tier: "x" },
	];
	test.each([
		["those that match now", { labels: before, showsInEndpoint: true }, ["default/all", "default/web"]],
		[
			"none when only labels moved that nobody asks for",
			{ labels: { ...before, x: "y" }, oldLabels: before, showsInEndpoint: false },
			[],
		],
		["none for a Pod without labels", { labels: {}, showsInEndpoint: true }, []],
		[
			"only those that gain or lose it, when only labels moved",
			{ labels: after, oldLabels: before, showsInEndpoint: false },
			["default/db", "default/web"],
		],
		[
			"all that matched or match, when it looks different, too",
			{ labels: after, oldLabels: before, showsInEndpoint: true },
			["default/all", "default/db", "default/web"],
		],
	])("are %s", (_, change, keys) => {
		const found = concernedServices({ namespace: "default", ...change }, matching);
		expect(found.map(keyOf).sort()).toEqual(keys);
	});
});
