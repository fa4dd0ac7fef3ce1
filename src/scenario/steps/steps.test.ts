/** What steps do, seen by what the scenario then expects. */
import { describe, expect, test } from "vitest";
import { runScenario, type ScenarioResult } from "../run-scenario.ts";

const SERVICE =
	"services: [{name: web, uid: u1, selector: {app: web}, sessionAffinity: ClientIP, ports: [{port: 80}]}]";
const POD = "{labels: {app: web}, ip: 10.1.0.1, node: n1, ready: true}";

function played(given: string, steps: string, expected: string): Promise<ScenarioResult> {
	return runScenario(`title: t\ngiven: {${given}}\nsteps:\n${steps}\nexpect: {${expected}}\n`);
}

/** `passed`, or what went wrong, and where. */
function outcome(result: ScenarioResult): string {
	if (result.kind === "unreadable") return JSON.stringify(result.faults);
	if (result.kind !== "failed") return result.kind;
	return result.problems.map(({ path, wanted, found }) => `${path}: ${wanted} | ${found}`).join("\n");
}

async function ran(given: string, steps: readonly string[], expected: string): Promise<string> {
	return outcome(await played(given, steps.map((step) => `  - ${step}`).join("\n"), expected));
}

describe("delete_pods", () => {
	const given = `${SERVICE}, controller: {maxEndpointsPerSlice: 2},
  pods: [{name: old, labels: {app: web}, ip: 10.1.9.1, node: n1, ready: true}],
  pods_repeat: [{count: 5, name: "w-{i}", labels: {app: web}, ip: "10.1.0.{i+1}", node: n1, ready: true}]`;
	const total = (count: number): string => `slices: [{service: web, endpoint_total: ${count}}]`;
	const gone = (name: string): string => `{kind: Pod, name: ${name}, exists: false}`;
	const there = (name: string): string => `{kind: Pod, name: ${name}, exists: true}`;

	test.each([
		["match: w-*", total(1), [there("old"), gone("w-0"), gone("w-4")]],
		['match: "*-3"', total(5), [there("w-2"), gone("w-3")]],
		["match: w.0", total(6), [there("w-0")]],
		["keep: 2", total(2), [there("old"), there("w-0"), gone("w-1")]],
		["from_each_slice: 1", total(3), []],
		["keep_one_per_slice: true", total(3), []],
		["match_slice_of: old", total(4), [gone("old")]],
	])("by %s leaves the others", async (way, left, objects) => {
		const expected = objects.length === 0 ? left : `${left}, objects: [${objects.join(", ")}]`;
		const steps = ["settle: true", `delete_pods: {${way}}`, "settle: true"];
		expect(await ran(given, steps, expected)).toBe("passed");
	});

	test("by a slice that there is not says so", async () => {
		const said = await ran(given, ["settle: true", "delete_pods: {match_slice_of: none}"], total(6));
		expect(said).toBe("steps[1]: the step to be done | no slice has the Pod none");
	});
});

describe("faults", () => {
	test("hold_reply lets the write land, and its writer wait until release_reply", async () => {
		const steps = [
			"settle: true",
			"hold_reply: {verb: update, kind: EndpointSlice, service: web}",
			`pod: {name: a, create: ${POD}}`,
			"tick: 5s",
			'check: {slices: [{service: web, exact: [{endpoints: ["10.1.0.1 RSt"]}]}]}',
			"reset_counts: true",
			"pod: {name: a, ready: false}",
			"tick: 5s",
			"check: {writes: {EndpointSlice: {any: 0}}}",
			"release_reply: true",
			"settle: true",
		];
		expect(await ran(SERVICE, steps, 'slices: [{service: web, exact: [{endpoints: ["10.1.0.1 rst"]}]}]')).toBe(
			"passed",
		);
	});

	test("lag holds back one informer's events until release_lag", async () => {
		const steps = [
			"settle: true",
			"lag: {informer: Pod}",
			`pod: {name: a, create: ${POD}}`,
			"tick: 10s",
			"check: {slices: [{service: web, endpoint_total: 0}]}",
			"release_lag: true",
			"settle: true",
		];
		expect(await ran(SERVICE, steps, "slices: [{service: web, endpoint_total: 1}]")).toBe("passed");
	});

	test("a restart with slow_lists is not ready for three seconds, without writes", async () => {
		const steps = [
			`pod: {name: a, create: ${POD}}`,
			"settle: true",
			"reset_counts: true",
			"restart: {component: controllers, slow_lists: [Node]}",
			"tick: 2s",
			"check: {health: {controllers: not-ready}}",
			"tick: 2s",
			"check: {health: {controllers: ready}}",
			"settle: true",
		];
		expect(await ran(SERVICE, steps, "writes: {EndpointSlice: {any: 0}, Endpoints: {any: 0}}")).toBe("passed");
	});

	test("fail_requests ends after so long, or so many times", async () => {
		const failing = (end: string): readonly string[] => [
			"settle: true",
			`fail_requests: {path: /apis/discovery.k8s.io/v1/namespaces/demo/endpointslices, code: 500, ${end}}`,
			`pod: {name: a, create: ${POD}}`,
			"tick: 500ms",
		];
		const found = (count: number): string => `slices: [{service: web, endpoint_total: ${count}}]`;
		const retrying = [`check: {${found(0)}, retrying: {web: true}}`, "tick: 40s"];
		expect(await ran(SERVICE, [...failing("for: 20s"), ...retrying], found(1))).toBe("passed");
		expect(await ran(SERVICE, [...failing("times: 1"), "tick: 2s"], found(1))).toBe("passed");
		expect(await ran(SERVICE, [...failing("times: 9"), "tick: 2s"], `${found(0)}, retrying: {web: true}`)).toBe(
			"passed",
		);
	});

	test("what is stopped or paused writes nothing, and settles all the same", async () => {
		const while_ = (begin: string, end: string): readonly string[] => [
			"settle: true",
			begin,
			"reset_counts: true",
			`pod: {name: a, create: ${POD}}`,
			"settle: true",
			"check: {writes: {EndpointSlice: {any: 0}}}",
			end,
			"settle: true",
		];
		const found = "slices: [{service: web, endpoint_total: 1}]";
		const controllers = "{component: controllers}";
		expect(await ran(SERVICE, while_(`stop: ${controllers}`, `start: ${controllers}`), found)).toBe("passed");
		expect(await ran(SERVICE, while_(`pause: ${controllers}`, `resume: ${controllers}`), found)).toBe("passed");
		// The file's own requests reach an API that is stopped for its components.
		expect(
			await ran(
				SERVICE,
				["settle: true", "stop: {component: apiserver}", "tick: 1s"],
				"endpoints: {web: {subsets_empty: true}}",
			),
		).toBe("passed");
	});

	test("a server that is stopped ends the watches that were open at it", async () => {
		const steps = [
			'http: {method: GET, path: "/api/v1/namespaces/demo/pods?watch=true", stream: w}',
			"settle: true",
			"stop: {component: apiserver}",
		];
		expect(await ran(SERVICE, steps, "streams: {w: {ended: clean}}")).toBe("passed");
	});

	test("a plane that never comes to rest says what is left to do", async () => {
		const steps = [
			"settle: true",
			"fail_requests: {path: /apis/discovery.k8s.io/v1/namespaces/demo/endpointslices, code: 500}",
			`pod: {name: a, create: ${POD}}`,
			"settle: {allow_retry: true}",
			"settle: true",
		];
		const said = await ran(SERVICE, steps, "retrying: {web: true}");
		expect(said).toBe("steps[4]: the step to be done | not settled within a minute: controllers: 1 retrying");
	});
});

describe("objects", () => {
	test("store_raw takes a field away below defaulting, also from a list", async () => {
		const steps = [
			"store_raw: {kind: Service, name: web, remove: /spec/sessionAffinityConfig}",
			"check: {objects: [{kind: Service, name: web, fields: {/spec/sessionAffinityConfig: null, /spec/sessionAffinity: ClientIP}}]}",
			"store_raw: {kind: Service, name: web, remove: /spec/ports/0}",
		];
		expect(await ran(SERVICE, steps, "objects: [{kind: Service, name: web, lists: {/spec/ports: []}}]")).toBe("passed");
	});

	test.each([
		["/spec/none/deep", "Service web has nothing at /spec/none/deep"],
		["/spec/ports/7", "Service web has nothing at /spec/ports/7"],
		["/spec/ports/x", "Service web has nothing at /spec/ports/x"],
	])("store_raw says that there is nothing at %s", async (pointer, said) => {
		expect(
			await ran(SERVICE, [`store_raw: {kind: Service, name: web, remove: ${pointer}}`], "retrying: {web: false}"),
		).toContain(said);
	});

	test("store_raw writes Endpoints that the API would refuse", async () => {
		const steps = [
			'store_raw: {kind: Endpoints, name: raw, subsets: [{addresses: [{ip: "010.1.0.1"}], ports: [{port: 1}]}]}',
		];
		expect(await ran(SERVICE, steps, 'endpoints: {raw: {ready: ["010.1.0.1:1"]}}')).toBe("passed");
	});

	test("spec_as: given makes the object of the start again, with what the step says", async () => {
		const steps = [
			"delete: {kind: Service, name: web}",
			"create: {kind: Service, name: web, uid: u2, spec_as: given, sessionAffinity: None}",
			"settle: true",
		];
		const fields = "{/spec/sessionAffinity: None, /spec/selector: {app: web}}";
		const expected = `objects: [{kind: Service, name: web, fields: ${fields}}], slices: [{service: web, exact: [{ownerUID: u2}]}]`;
		expect(await ran(SERVICE, steps, expected)).toBe("passed");
		const many = 'services_repeat: [{count: 2, name: "s{i}", selector: {app: "s{i}"}, ports: [{port: 80}]}]';
		const again = ["delete: {kind: Service, name: s1}", "create: {kind: Service, ns: demo, name: s1, spec_as: given}"];
		expect(await ran(many, again, "objects: [{kind: Service, name: s1, fields: {/spec/selector: {app: s1}}}]")).toBe(
			"passed",
		);
		const said = await ran(SERVICE, ["create: {kind: Service, name: none, spec_as: given}"], "http: {code: 201}");
		expect(said).toBe("steps[0]: the step to be done | spec_as: given: the start state has no Service none");
	});

	test("for_each puts each value into what it creates and checks", async () => {
		const step = [
			"for_each:",
			"    value: [10.1.0.1, not-an-ip]",
			'    create: {kind: EndpointSlice, name: "s-{value}", addressType: IPv4, endpoints: [{addresses: ["{value}"]}]}',
			"    check: {http: {code: 201}}",
		];
		const said = await ran(SERVICE, [step.join("\n  ")], "retrying: {web: false}");
		expect(said).toMatch(/^steps\[0\] not-an-ip\.check\.http\.code: 201 \| 422 Invalid/);
	});

	test("for_each says what is wrong with a key in it", async () => {
		const step = "for_each: {value: [a], create: {kind: Service, nam: a}, check: {http: {code: 201}}}";
		expect(await ran(SERVICE, [step], "retrying: {web: false}")).toMatch(/^steps\[0\]: .*create\.nam/);
	});

	test("save keeps what is there, and saved tells it from what has its name later", async () => {
		const steps = [
			"settle: true",
			"save: {as: slices, kind: EndpointSlice, service: web}",
			"save: {as: service, kind: Service, name: web}",
			"delete: {kind: Service, name: web}",
			"create: {kind: Service, name: web, spec_as: given}",
			"settle: true",
		];
		expect(await ran(SERVICE, steps, "saved: {service: gone, slices: gone}")).toBe("passed");
		expect(await ran(SERVICE, ["save: {as: x, kind: Pod, name: none}"], "saved: {x: same}")).toContain(
			"names no object",
		);
	});

	test("a step that means one object says how many there are", async () => {
		const said = await ran(
			SERVICE,
			["settle: true", "delete: {kind: EndpointSlice, service: other}"],
			"http: {code: 200}",
		);
		expect(said).toContain('{"kind":"EndpointSlice","service":"other"} names 0 objects, want exactly one');
	});

	test("a pod keeps what its step does not name, and the time of a condition that stays", async () => {
		const steps = [
			`pod: {name: a, create: ${POD}}`,
			"tick: 1m",
			"pod: {name: a, reason: Odd, ready: true}",
			"tick: 1m",
			"pod: {name: a, phase: Failed}",
		];
		const fields =
			'{/status/podIP: 10.1.0.1, /status/reason: Odd, /status/phase: Failed, /status/conditions/0/lastTransitionTime: "2026-01-01T00:00:00Z"}';
		expect(await ran(SERVICE, steps, `objects: [{kind: Pod, name: a, fields: ${fields}}]`)).toBe("passed");
	});

	test("a start that the server refuses is told with its words", async () => {
		const said = await ran("services: [{name: Web, ports: [{port: 80}]}]", ["settle: true"], "retrying: {web: false}");
		expect(said).toMatch(/^given: the step to be done \| Service Web: 422 Service "Web" is invalid: metadata\.name/);
	});
});

describe("http", () => {
	test("goes on with a saved token, and says which one was never saved", async () => {
		const given = 'services_repeat: [{count: 3, name: "s{i}", ports: [{port: 80}]}]';
		const path = "/api/v1/namespaces/demo/services?limit=2";
		const steps = [
			`http: {method: GET, path: "${path}", save_continue: t}`,
			`http: {method: GET, path: "${path}&continue=\${t}"}`,
		];
		expect(await ran(given, steps, "http: {code: 200, items: 1}")).toBe("passed");
		const said = await ran(given, [`http: {method: GET, path: "${path}&continue=\${x}"}`], "http: {code: 200}");
		expect(said).toContain("{x}: no continue token was saved under that name");
	});

	test("says when there is no watch to keep", async () => {
		const said = await ran(SERVICE, ['http: {method: GET, path: "/nothing", stream: s}'], "http: {code: 404}");
		expect(said).toContain("/nothing opened no watch: 404");
	});
});

test("the same text and seed give the same trace, and another seed other names", async () => {
	const text = (seed: number): Promise<string> =>
		runScenario(`title: t\ngiven: {${SERVICE}}\nsteps: [{settle: true}]\nexpect: {retrying: {web: false}}`, {
			seed,
		}).then(({ trace }) => trace?.lines().join("\n") ?? "");
	expect(await text(1)).toBe(await text(1));
	expect(await text(2)).not.toBe(await text(1));
});
