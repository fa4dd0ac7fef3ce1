import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import { service } from "../../testing/builders.ts";
import { planIngress } from "./ingress.ts";

function balanced(spec: Partial<Service["spec"]> = {}, ips: readonly string[] = []): Service {
	const ingress = ips.map((ip) => ({ ip, ipMode: "VIP" as const }));
	return { ...service("web", { type: "LoadBalancer", ...spec }), status: { loadBalancer: { ingress } } };
}

describe("planIngress", () => {
	const taken = new Set(["203.0.113.1", "203.0.113.3"]);
	test.each<{ rule: string; service: Service; plan: string }>([
		{ rule: "the first free address", service: balanced(), plan: "give 203.0.113.2" },
		{ rule: "one that it has stays", service: balanced({}, ["203.0.113.9"]), plan: "right" },
		{
			rule: "one for each family",
			service: balanced({ ipFamilies: ["IPv6", "IPv4"] }),
			plan: "give 2001:db8:203:113::1 203.0.113.2",
		},
		{
			rule: "a second family is added to the first",
			service: balanced({ ipFamilies: ["IPv4", "IPv6"] }, ["203.0.113.9"]),
			plan: "give 203.0.113.9 2001:db8:203:113::1",
		},
		{
			rule: "the one that was asked for",
			service: balanced({ loadBalancerIP: "203.0.113.77" }),
			plan: "give 203.0.113.77",
		},
		{
			rule: "not one that another has",
			service: balanced({ loadBalancerIP: "203.0.113.3" }),
			plan: "give 203.0.113.2",
		},
		{
			rule: "not one of anybody's network",
			service: balanced({ loadBalancerIP: "10.0.0.1" }),
			plan: "give 203.0.113.2",
		},
		{ rule: "an address from elsewhere is replaced", service: balanced({}, ["10.0.0.1"]), plan: "give 203.0.113.2" },
		{ rule: "other types get nothing", service: balanced({ type: "NodePort" }), plan: "none" },
		{
			rule: "another implementation's Service is left alone",
			service: balanced({ loadBalancerClass: "a/b" }),
			plan: "none",
		},
	])("$rule", ({ service: of, plan }) => {
		const planned = planIngress(of, (ip) => taken.has(ip));
		const ips = planned.kind === "give" ? ` ${planned.ingress.map(({ ip }) => ip).join(" ")}` : "";
		expect(planned.kind + ips).toBe(plan);
	});

	test("says which range is full", () => {
		expect(planIngress(balanced(), () => true)).toEqual({ kind: "full", range: "203.0.113.0/24" });
	});

	test("gives neither the address of the network nor that of its broadcasts", () => {
		const given = planIngress(balanced(), (ip) => ip !== "203.0.113.0" && ip !== "203.0.113.255");
		expect(given.kind).toBe("full");
	});
});
