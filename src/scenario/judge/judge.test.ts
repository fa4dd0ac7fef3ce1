/** Each expectation can fail, and says why: small scenarios that expect what is not so. */
import { describe, expect, test } from "vitest";
import { runScenario } from "../run-scenario.ts";

const GIVEN = `{
	services: [{name: web, uid: u, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}, {name: bare, ports: [{port: 1}]}],
	pods: [
		{name: a, labels: {app: web}, ip: 10.1.0.1, node: n1, ready: true},
		{name: b, labels: {app: web}, ip: 10.1.0.2, node: n2, ready: false}],
	endpoints: [{name: bare, labels: {x: y}, annotations: {k: v}, subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 1}]}]}]}`;

/** Everything that can be looked at has happened: requests, a watch, a save, an Event, writes. */
const STEPS = `
  - settle: true
  - save: {as: kept, kind: Pod, name: a}
  - save: {as: changed, kind: Pod, name: b}
  - http: {method: GET, path: "/api/v1/namespaces/demo/pods?watch=true", stream: pods}
  - pod: {name: b, reason: Odd}
  - settle: true`;

/** What the expectation comes to: `passed`, or `PATH: WANTED | FOUND` of each problem. */
async function judged(expected: string, steps = ""): Promise<string> {
	const lines = `${STEPS}\n${steps}`.replaceAll(/^ {2}- /gm, "  - ");
	const result = await runScenario(
		`title: t\ngiven: ${GIVEN.replaceAll("\t", " ")}\nsteps:${lines}\nexpect: {${expected}}\n`,
	);
	if (result.kind === "unreadable") return JSON.stringify(result.faults);
	if (result.kind !== "failed") return result.kind;
	return result.problems.map(({ path, wanted, found }) => `${path}: ${wanted} | ${found}`).join("\n");
}

const service = (keys: string): string => `slices: [{service: web, ${keys}}]`;
const slice = (keys: string): string => service(`exact: [{${keys}}]`);
const pods = (keys: string): string => `objects: [{kind: Pod, name: a, ${keys}}]`;

/** A true expectation, a false one of the same key, and what is said of that. */
const ROWS: readonly (readonly [string, string, string])[] = [
	[
		slice("addressType: IPv4"),
		slice("addressType: IPv6"),
		'expect.slices[0].exact: {"addressType":"IPv6"} | {"name":"web-',
	],
	[
		slice("managedBy: endpointslice-controller.k8s.io"),
		slice("managedBy: me"),
		'"managedBy":"endpointslice-controller.k8s.io"',
	],
	[slice('ports: ["http:8080/TCP"]'), slice('ports: ["http:80/TCP"]'), '"ports":["http:8080/TCP"]'],
	[slice("ports_count: 1"), slice("ports_count: 2"), '"ports_count":1'],
	[
		slice('endpoints: ["10.1.0.2 rst", "10.1.0.1 RSt pod=a"]'),
		slice('endpoints: ["10.1.0.1 RSt"]'),
		"10.1.0.2 rst pod=b node=n2",
	],
	[slice("endpoint_count: 2"), slice("endpoint_count: 1"), '"endpoint_count":2'],
	[slice("ready_count: 1"), slice("ready_count: 2"), '"ready_count":1'],
	[slice("labels_absent: [x]"), slice("labels_absent: [kubernetes.io/service-name]"), '"labels_absent":["'],
	[slice("ownerUID: u"), slice("ownerUID: v"), '"ownerUID":"0000'],
	[
		slice(
			"ownerReferences: [{apiVersion: v1, kind: Service, name: web, uid: u, controller: true, blockOwnerDeletion: true}]",
		),
		slice("ownerReferences: []"),
		'"ownerReferences":[{',
	],
	[service("none_with: {ready_count: 9}"), service("none_with: {ready_count: 1}"), "none_with: {"],
	[service("exact: [{ready_count: 1}]"), service("exact: []"), "expect.slices[0].exact: no slice but these 0 | {"],
	[service("endpoint_total: {min: 1, max: 2}"), service("endpoint_total: {min: 3}"), 'endpoint_total: {"min":3} | 2'],
	[service("endpoint_max: 2"), service("endpoint_max: 1"), "endpoint_max: 1 | 2"],
	[service("hint_counts: {none: 2}"), service("hint_counts: {z1: 2}"), 'hint_counts: {"z1":2} | {"none":2}'],
	[
		'endpoints: {web: {ready: ["10.1.0.1:8080"]}}',
		"endpoints: {web: {ready: []}}",
		'endpoints.web.ready: [] | ["10.1.0.1:8080"]',
	],
	['endpoints: {web: {notReady: ["10.1.0.2:8080"]}}', "endpoints: {web: {notReady: []}}", "endpoints.web.notReady: []"],
	["endpoints: {web: {ready_addresses: [10.1.0.1]}}", "endpoints: {web: {ready_addresses: []}}", "ready_addresses: []"],
	[
		"endpoints: {web: {ready_count: 1, notReady_count: 1}}",
		"endpoints: {web: {notReady_count: 0}}",
		"notReady_count: 0 | 1",
	],
	["endpoints: {none: absent}", "endpoints: {web: absent}", "endpoints.web: absent | ["],
	[
		"endpoints: {web: {ready_count: 1}}",
		"endpoints: {none: {ready_count: 1}}",
		'endpoints.none: {"ready_count":1} | absent',
	],
	["endpoints: {web: {ready_count: 1}}", "endpoints: {web: {ports_absent: true}}", "ports_absent: no ports | ["],
	["endpoints: {web: {ready_count: 1}}", "endpoints: {web: {subsets_empty: true}}", "subsets_empty: no subsets | ["],
	["endpoints: {bare: {labels: {x: y}}}", "endpoints: {bare: {labels: {}}}", 'labels: {} | {"x":"y"}'],
	[
		"endpoints: {bare: {labels_absent: [z]}}",
		"endpoints: {bare: {labels_absent: [x]}}",
		'labels_absent: ["x"] | {"x":"y"}',
	],
	[
		"endpoints: {bare: {annotations: {k: v}}}",
		"endpoints: {bare: {annotations: {k: w}}}",
		'annotations: {"k":"w"} | {"k":"v"}',
	],
	[
		"endpoints: {bare: {annotations_absent: [z]}}",
		"endpoints: {bare: {annotations_absent: [k]}}",
		'annotations_absent: ["k"]',
	],
	[pods("exists: true"), pods("exists: false"), 'objects[0].exists: no such object | ["a"]'],
	[
		"objects: [{kind: Pod, name: z, exists: false}]",
		"objects: [{kind: Pod, name: z}]",
		'objects[0].count: {"min":1} | []',
	],
	[pods("count: 1"), pods("count: {max: 0}"), 'objects[0].count: {"max":0} | ["a"]'],
	[pods("deleting: false"), pods("deleting: true"), 'objects[0].count: {"min":1} | []'],
	[
		pods("fields: {/spec/nodeName: n1, /spec/hostname: null}"),
		pods("fields: {/spec/nodeName: null}"),
		"objects[0] a /spec/nodeName: null | n1",
	],
	[pods("present: [/status]"), pods("present: [/spec/none]"), "/spec/none: something | nothing"],
	[pods("keys: {/metadata/labels: [app]}"), pods("keys: {/metadata/labels: []}"), '/metadata/labels: [] | ["app"]'],
	[
		pods("lists: {/spec/containers: [{name: c}]}"),
		pods("lists: {/spec/containers: [{name: d}]}"),
		"/spec/containers: [",
	],
	[pods('matches: {/status/podIP: "^10"}'), pods('matches: {/status/podIP: "^11"}'), "/status/podIP: /^11/ | 10.1.0.1"],
	["saved: {kept: unchanged}", "saved: {kept: gone}", "saved.kept a: gone | unchanged"],
	["saved: {changed: same}", "saved: {changed: unchanged}", "saved.changed b: unchanged | same"],
	["saved: {kept: same}", "saved: {lost: same}", "saved.lost: same | nothing was saved under that name"],
	[
		"unique: [{kind: Service, fields: [/spec/clusterIP]}]",
		"unique: [{kind: Service, fields: [/spec/type]}]",
		"unique[0]: values that differ",
	],
	[
		"writes: {EndpointSlice: {create: 2, delete: 0}}",
		"writes: {EndpointSlice: {any: 0}}",
		"writes.EndpointSlice.any: 0 | ",
	],
	["retrying: {web: false}", "retrying: {web: true}", "retrying.web: true | false"],
	["health: {controllers: ready}", "health: {controllers: not-ready}", "health.controllers: not-ready | ready"],
	["http: {code: 200}", "http: {code: 404}", "http.code: 404 | 200"],
	["http: {code_in: [200, 201]}", "http: {code_in: [404]}", "http.code_in: [404] | 200"],
	["http: {warnings: []}", "http: {warnings: [old]}", 'http.warnings: ["old"] | []'],
	[
		"http: {first_event: {type: ADDED}}",
		"http: {first_event: {type: ERROR}}",
		'http.first_event: {"type":"ERROR"} | {"type":"ADDED"',
	],
	["streams: {pods: {ended: open}}", "streams: {pods: {ended: clean}}", "streams.pods.ended: clean | open"],
	[
		"streams: {pods: {not_types: [ERROR]}}",
		"streams: {pods: {not_types: [ADDED]}}",
		"streams.pods.not_types: none of ADDED",
	],
	[
		"streams: {pods: {exact: [{type: ADDED, name: a}, {type: ADDED, name: b}, {type: MODIFIED}]}}",
		"streams: {pods: {exact: [{type: ADDED, name: a}, {type: ADDED, version_of: kept}, {type: MODIFIED}]}}",
		"streams.pods.exact: [",
	],
	["streams: {pods: {ended: open}}", "streams: {other: {ended: open}}", "no stream of that name was opened"],
];

describe("an expectation", () => {
	test.each(ROWS)("%s holds, and %s says why it does not", async (right, wrong, said) => {
		expect(await judged(right)).toBe("passed");
		expect(await judged(wrong)).toContain(said);
	});

	test.each([
		["reason", "http: {code: 404, reason: NotFound}", "http: {reason: Gone}", "http.reason: Gone | 404 NotFound"],
		[
			"message",
			'http: {message_contains: ["not found"]}',
			"http: {message_contains: [x]}",
			"http.message_contains: x | 404",
		],
		[
			"body",
			"http: {body_has: [/reason], body_lacks: [/none]}",
			"http: {body_has: [/none]}",
			"http.body_has /none: something | nothing",
		],
		[
			"lack of a body",
			"http: {body_lacks: [/none]}",
			"http: {body_lacks: [/reason]}",
			"http.body_lacks /reason: nothing | NotFound",
		],
		[
			"first event",
			"http: {first_event: {type: ERROR, object: {code: 404}}}",
			"http: {first_event: {type: ADDED}}",
			"http.first_event",
		],
		["items", "http: {items: 0}", "http: {items: 2}", "http.items: 2 | 0"],
	])("of an answer's %s holds, or says why not", async (_, right, wrong, said) => {
		const step = '  - http: {method: GET, path: "/api/v1/namespaces/demo/services/none"}';
		expect(await judged(right, step)).toBe("passed");
		expect(await judged(wrong, step)).toContain(said);
	});

	test("of Events holds, or tells those that there are", async () => {
		const wrong = await judged("events: [{reason: FailedToCreate}]");
		expect(wrong).toContain('events[0]: {"reason":"FailedToCreate"} | ');
	});

	test("is judged again for five seconds, or for as long as the scenario waits", async () => {
		const failing = (wait: string): Promise<string> =>
			judged(
				slice("endpoint_count: 3"),
				`
  - fail_requests: {resource: endpointslices, code: 500, for: 8s}
  - pod: {name: c, create: {labels: {app: web}, ip: 10.1.0.3, node: n1, ready: true}}${wait}`,
			);
		expect(await failing("")).toContain("expect.slices[0].exact");
		expect(await failing("\n  - wait: {max: 1m}")).toBe("passed");
	});
});

test("what is not built yet is pending, unless something else is wrong", async () => {
	const pending = "client_list: {count: 1}";
	expect(["pending", "passed"]).toContain(await judged(pending));
	expect(await judged(`${pending}, endpoints: {web: absent}`)).toContain("expect.endpoints.web: absent");
});

test("the API server has a log as the other components have", async () => {
	expect(await judged("log: [{component: apiserver, contains: [x]}]")).toContain("no line");
});

test("kubectl is pending where there is none", async () => {
	expect(await judged("kubectl: [{args: get pods, exit: 0}]")).toBe("pending");
});
