import { expect, test } from "vitest";
import { pod } from "../testing/builders.ts";
import { clientPod, isClient, resolvConf } from "./client-pod.ts";
import { behaviourOf } from "./pod-lifecycle/behaviour.ts";

test("a command's Pod says so, has the labels that are asked for, and no odd annotation", () => {
	const made = clientPod({ name: "exec-1", nodeName: "n2", labels: { app: "web" }, process: "sp-1-1@x" });
	const stored = { ...pod("exec-1"), metadata: { ...pod("exec-1").metadata, ...made.metadata } };
	expect(isClient(stored)).toBe(true);
	expect(isClient(pod("web-1"))).toBe(false);
	expect(behaviourOf(stored).problems).toEqual([]);
	expect(made).toMatchObject({ metadata: { labels: { app: "web" } }, spec: { nodeName: "n2" } });
});

test("names are looked for in the Pod's namespace first", () => {
	expect(resolvConf("10.96.0.10", "shop", "cluster.local")).toBe(
		"search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
	);
});
