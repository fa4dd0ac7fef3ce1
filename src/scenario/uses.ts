/** Which parts of a plane a scenario is about: what nobody looks at need not run. */
import type { ExpectationKey, Expectations } from "./format/expectations.ts";
import type { Scenario } from "./format/scenario-file.ts";
import type { StepKey } from "./format/steps.ts";

const PROXY_EXPECTATIONS: ReadonlySet<ExpectationKey> = new Set([
	"proxy",
	"http_on_node",
	"conntrack_deleted",
	"kernel_order",
	"ruleset",
	"affinity_records",
	"sysctls",
	"log",
	"health",
]);
const PROXY_STEPS: ReadonlySet<StepKey> = new Set(["proxy_sync", "affinity_record"]);

export function usesProxies(scenario: Scenario): boolean {
	const { steps } = scenario;
	const expects = expectationsOf(scenario).some((each) =>
		Object.keys(each).some((key) => PROXY_EXPECTATIONS.has(key as ExpectationKey)),
	);
	return expects || steps.some(({ key }) => PROXY_STEPS.has(key));
}

/** Names that expectations say a node's proxy was given, by node. */
export function proxyNames(scenario: Scenario): ReadonlyMap<string, readonly string[]> {
	const names = new Map<string, string[]>();
	for (const { proxy = [], log = [] } of expectationsOf(scenario)) {
		for (const { node, started_as: name } of [...proxy, ...log]) {
			if (node === undefined || name === undefined) continue;
			names.set(node, [...(names.get(node) ?? []), name]);
		}
	}
	return names;
}

function expectationsOf({ steps, expect }: Scenario): readonly Expectations[] {
	const between = steps.flatMap((step): readonly Expectations[] => {
		// What a `for_each` checks is read when its values are put in: its keys are those of expectations all the same.
		if (step.key === "for_each") return [step.value.check as Expectations];
		return step.key === "check" ? [step.value] : [];
	});
	return [...between, expect];
}

export function usesDns(scenario: Scenario): boolean {
	return expectationsOf(scenario).some(
		({ dns, health = {}, log = [] }) =>
			dns !== undefined || Object.hasOwn(health, "dns") || log.some(({ component }) => component === "dns"),
	);
}
