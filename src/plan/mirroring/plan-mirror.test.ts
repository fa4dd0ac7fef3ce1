import { describe, expect, test } from "vitest";
import type { EndpointSubset, Endpoints } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, ObjectMeta } from "../../api/types/meta.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { meta } from "../../testing/builders.ts";
import { mayBeMirrored } from "./eligibility.ts";
import { type MirrorPlan, planMirror } from "./plan-mirror.ts";

const PORTS = [{ name: "http", port: 80, protocol: "TCP" as const }];
const LIMITS = { addressesPerSubsetMax: 1000 };

function endpoints(subsets: readonly EndpointSubset[], metadata: Partial<ObjectMeta> = {}): Endpoints {
	return deepFreeze({ apiVersion: "v1", kind: "Endpoints", metadata: meta("db", metadata), subsets });
}

const ips = (...list: readonly string[]): { ip: string }[] => list.map((ip) => ({ ip }));

/** The draft as the API would store it. */
function stored(draft: Draft<EndpointSlice>, name: string): EndpointSlice {
	const { generateName: _, ...metadata } = draft.metadata;
	return deepFreeze({
		...draft,
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: { ...meta(name), generation: 1, ...metadata, name },
	});
}

/** The slices that these Endpoints have once they were mirrored: `s1`, `s2` and on. */
function mirrorOf(source: Endpoints, limits = LIMITS): readonly EndpointSlice[] {
	return planMirror({ endpoints: source, existing: [] }, limits).creates.map((draft, index) =>
		stored(draft, `s${index + 1}`),
	);
}

/** `create IPv4:80 [a b]; update s1 IPv4:80 [c]; delete s2`. */
function text({ creates, updates, deletes }: MirrorPlan): string {
	const contents = (slice: Draft<EndpointSlice>): string => {
		const addresses = (slice.endpoints ?? []).map(({ addresses: [ip], conditions }) =>
			conditions.ready ? ip : `-${ip}`,
		);
		return `${slice.addressType}:${(slice.ports ?? []).map(({ port }) => port).join("+")} [${addresses.join(" ")}]`;
	};
	return [
		...creates.map((slice) => `create ${contents(slice)}`),
		...updates.map((slice) => `update ${slice.metadata.name} ${contents(slice)}`),
		...deletes.map((slice) => `delete ${slice.metadata.name}`),
	].join("; ");
}

const TWO = endpoints([{ addresses: ips("10.0.0.1", "10.0.0.2"), ports: PORTS }]);

describe("planMirror", () => {
	test.each<{ rule: string; before: Endpoints; now: Endpoints; plan: string }>([
		{ rule: "what is right is not written", before: TWO, now: TWO, plan: "" },
		{
			rule: "a slice for each family",
			before: endpoints([]),
			now: endpoints([{ addresses: ips("10.0.0.2", "fd00::1", "10.0.0.1"), ports: PORTS }]),
			plan: "create IPv4:80 [10.0.0.1 10.0.0.2]; create IPv6:80 [fd00::1]",
		},
		{
			rule: "those that are not ready come too, behind",
			before: endpoints([]),
			now: endpoints([{ addresses: ips("10.0.0.9"), notReadyAddresses: ips("10.0.0.1"), ports: PORTS }]),
			plan: "create IPv4:80 [10.0.0.9 -10.0.0.1]",
		},
		{
			rule: "no placeholder stays",
			before: TWO,
			now: endpoints([]),
			plan: "delete s1",
		},
		{
			rule: "one more address writes the slice again",
			before: TWO,
			now: endpoints([{ addresses: ips("10.0.0.1", "10.0.0.2", "10.0.0.3"), ports: PORTS }]),
			plan: "update s1 IPv4:80 [10.0.0.1 10.0.0.2 10.0.0.3]",
		},
		{
			rule: "another port takes over the name of the old slice",
			before: TWO,
			now: endpoints([{ addresses: ips("10.0.0.1"), ports: [{ name: "http", port: 81, protocol: "TCP" }] }]),
			plan: "update s1 IPv4:81 [10.0.0.1]",
		},
		{
			rule: "names are not lent between families",
			before: TWO,
			now: endpoints([{ addresses: ips("fd00::1"), ports: PORTS }]),
			plan: "create IPv6:80 [fd00::1]; delete s1",
		},
		{
			rule: "a label alone writes the slice again",
			before: TWO,
			now: endpoints(TWO.subsets ?? [], { labels: { team: "x" } }),
			plan: "update s1 IPv4:80 [10.0.0.1 10.0.0.2]",
		},
		{
			rule: "what kubectl applied last is not copied",
			before: TWO,
			now: endpoints(TWO.subsets ?? [], { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
			plan: "",
		},
		{
			rule: "Endpoints of another uid are another owner",
			before: TWO,
			now: endpoints(TWO.subsets ?? [], { uid: "again" }),
			plan: "update s1 IPv4:80 [10.0.0.1 10.0.0.2]",
		},
		{
			rule: "nothing is created for Endpoints that are going",
			before: endpoints([]),
			now: endpoints(TWO.subsets ?? [], { deletionTimestamp: "2026-01-01T00:00:00Z" }),
			plan: "",
		},
		{
			rule: "addresses of old forms become canonical",
			before: endpoints([]),
			now: endpoints([{ addresses: ips("010.1.1.1", "::ffff:10.0.0.7"), ports: PORTS }]),
			plan: "create IPv4:80 [10.1.1.1 10.0.0.7]",
		},
	])("$rule", ({ before, now, plan }) => {
		expect(text(planMirror({ endpoints: now, existing: mirrorOf(before) }, LIMITS))).toBe(plan);
	});

	test("the limit counts both families of a subset together, ready ones first, in order of their text", () => {
		const source = endpoints([
			{ addresses: ips("10.0.0.2", "10.0.0.1", "fd00::1"), notReadyAddresses: ips("10.0.0.0"), ports: PORTS },
		]);
		const plan = planMirror({ endpoints: source, existing: [] }, { addressesPerSubsetMax: 3 });
		expect(text(plan)).toBe("create IPv4:80 [10.0.0.1 10.0.0.2]; create IPv6:80 [fd00::1]");
		expect(plan.counts).toMatchObject({ invalid: 0, skipped: 1 });
	});

	test("what cannot be read is counted and left out", () => {
		const source = endpoints([{ addresses: ips("foo", "10.0.0.1"), ports: PORTS }]);
		expect(planMirror({ endpoints: source, existing: [] }, LIMITS).counts).toMatchObject({
			invalid: 1,
			skipped: 1,
			added: 1,
		});
	});

	test("a second slice of the same ports goes, the older one stays", () => {
		const [first] = mirrorOf(TWO);
		if (first === undefined) throw new Error("no slice");
		const younger = { ...first, metadata: { ...first.metadata, name: "a", creationTimestamp: "2026-02-01T00:00:00Z" } };
		expect(text(planMirror({ endpoints: TWO, existing: [younger, first] }, LIMITS))).toBe("delete a");
	});
});

test("only the exact word skips, and the mere presence of a leader's annotation", () => {
	const label = (value: string) => endpoints([], { labels: { "endpointslice.kubernetes.io/skip-mirror": value } });
	expect([label("true"), label("True"), label("")].map(mayBeMirrored)).toEqual([false, true, true]);
	expect(mayBeMirrored(endpoints([], { annotations: { "control-plane.alpha.kubernetes.io/leader": "" } }))).toBe(false);
});
