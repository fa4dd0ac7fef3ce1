import { beforeEach, describe, expect, test } from "vitest";
import { type AnswerJson, type TestResponse, TestServer } from "../../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const APPLY = "application/apply-patch+yaml";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

type Given = Readonly<Record<string, unknown>>;

function web(given: Given = {}): Given {
	const { metadata = {}, ...rest } = given as { metadata?: Given };
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata: { name: "web", ...metadata },
		...("spec" in given ? {} : { spec: { ports: [{ port: 80 }] } }),
		...rest,
	};
}

function apply(manager: string, body: unknown, more = "", path = `${SERVICES}/web`): Promise<TestResponse> {
	return server.request("PATCH", `${path}?fieldManager=${manager}${more}`, { body, contentType: APPLY });
}

const labelled = (labels: Given) => web({ metadata: { labels } });
const FORCE = "&force=true";

/** `manager operation subresource: fields` of each entry. */
function owners({ metadata }: AnswerJson): readonly string[] {
	return (metadata.managedFields ?? []).map(
		({ manager, operation, subresource, fieldsV1 }) =>
			`${manager} ${operation}${subresource === undefined ? "" : ` ${subresource}`}: ${JSON.stringify(fieldsV1)}`,
	);
}

const PORT_80 = '"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}}}}';

describe("applying", () => {
	test("makes what is not there, defaulted, and owns what it gave alone", async () => {
		const { status, json } = await apply("m1", labelled({ a: "1" }));
		expect([status, json.spec?.["type"], owners(json)]).toEqual([
			201,
			"ClusterIP",
			[`m1 Apply: {"f:metadata":{"f:labels":{"f:a":{}}},${PORT_80}}`],
		]);
	});

	test("takes YAML", async () => {
		const yaml = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports:\n  - port: 0x50\n";
		expect((await apply("m1", yaml)).json.spec).toMatchObject({ ports: [{ port: 80 }] });
	});

	test("the same again stores nothing, and time stays", async () => {
		const first = await apply("m1", labelled({ a: "1" }));
		await server.clock.advance(5_000);
		expect((await apply("m1", labelled({ a: "1" }))).json).toEqual(first.json);
	});

	test("what another has applied alike shares it", async () => {
		await apply("m1", labelled({ a: "1" }));
		const { json } = await apply("m2", labelled({ a: "1" }));
		expect(owners(json)).toHaveLength(2);
	});

	test("what another owns is a conflict, that force settles", async () => {
		await apply("m1", labelled({ a: "1", b: "1" }));
		const refused = await apply("m2", labelled({ a: "2" }));
		expect([refused.status, refused.json]).toEqual([
			409,
			{
				kind: "Status",
				apiVersion: "v1",
				metadata: {},
				status: "Failure",
				message: 'Apply failed with 1 conflict: conflict with "m1": .metadata.labels.a',
				reason: "Conflict",
				details: {
					causes: [{ reason: "FieldManagerConflict", message: 'conflict with "m1"', field: ".metadata.labels.a" }],
				},
				code: 409,
			},
		]);
		const { json } = await apply("m2", labelled({ a: "2" }), FORCE);
		expect([json.metadata.labels, owners(json)]).toEqual([
			{ a: "2", b: "1" },
			[
				`m1 Apply: {"f:metadata":{"f:labels":{"f:b":{}}},${PORT_80}}`,
				`m2 Apply: {"f:metadata":{"f:labels":{"f:a":{}}},${PORT_80}}`,
			],
		]);
	});

	test("several conflicts are told by manager, updates with their version", async () => {
		await server.request("POST", `${SERVICES}?fieldManager=z`, { body: labelled({ a: "1", b: "1" }) });
		await apply("m1", labelled({ c: "1" }));
		await server.request("PATCH", `${DEPLOYMENTS}/none/status?fieldManager=x`, { body: {}, contentType: APPLY });
		const { json } = await apply("m2", labelled({ a: "2", b: "2", c: "2" }));
		expect(json.message).toBe(
			'Apply failed with 3 conflicts: conflicts with "m1":\n- .metadata.labels.c\n' +
				'conflicts with "z" using v1:\n- .metadata.labels.a\n- .metadata.labels.b',
		);
	});

	test("less gives up the rest: it goes unless somebody else owns it", async () => {
		await apply("m1", labelled({ a: "1", b: "1" }));
		await apply("m2", labelled({ b: "1" }));
		const { json } = await apply("m1", web());
		expect([json.metadata.labels, owners(json).length]).toEqual([{ b: "1" }, 2]);
	});

	test("an item less takes the item, also when the server has added to it", async () => {
		await apply(
			"m1",
			web({
				spec: {
					ports: [
						{ port: 80, name: "a" },
						{ port: 81, name: "b" },
					],
				},
			}),
		);
		const { json } = await apply("m1", web({ spec: { ports: [{ port: 81, name: "b" }] } }));
		expect(json.spec).toMatchObject({ ports: [{ port: 81, name: "b" }] });
	});

	test("to the same name in another version, or by an update, is another owner", async () => {
		await server.request("POST", `${SERVICES}?fieldManager=m1`, { body: web() });
		const { json } = await apply("m1", web());
		expect(owners(json).map((text) => text.slice(0, 9))).toEqual(["m1 Apply:", "m1 Update"]);
	});

	test("to what nobody is known to own leaves that to before-first-apply", async () => {
		await server.request("POST", SERVICES, { body: labelled({ a: "1" }) });
		const clear = { metadata: { managedFields: [{}] } };
		await server.request("PATCH", `${SERVICES}/web`, { body: clear, contentType: "application/merge-patch+json" });
		const { json } = await apply("m1", labelled({ a: "2" }));
		expect(json.message).toBe(
			'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .metadata.labels.a',
		);
	});

	test("as a dry run answers, and stores nothing", async () => {
		expect((await apply("m1", web(), "&dryRun=All")).status).toBe(201);
		expect((await server.request("GET", `${SERVICES}/web`)).status).toBe(404);
		const { json } = await apply("m1", web());
		expect((await apply("m1", labelled({ a: "1" }), "&dryRun=All")).json.metadata.labels).toEqual({ a: "1" });
		expect((await server.request("GET", `${SERVICES}/web`)).json).toEqual(json);
	});

	test("in process is the same", async () => {
		const resource = { group: "", version: "v1", kind: "Service", plural: "services", namespaced: true };
		const key = { namespace: "default", name: "web" };
		const patch = { type: "apply", body: labelled({ a: "1" }) } as const;
		const made = await server.client.patch(resource, key, patch, { fieldManager: "m1" });
		expect(made.metadata.managedFields?.[0]?.operation).toBe("Apply");
		await expect(server.client.patch(resource, key, patch)).rejects.toThrow("is required for apply patch");
	});
});

describe("an apply is refused", () => {
	const uid = "00000000-0000-4000-8000-00000000abcd";
	test.each([
		[
			"without a manager",
			"",
			web(),
			422,
			'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
		],
		["of another kind", "m1", { ...web(), kind: "Pod" }, 400, "invalid object type: /v1, Kind=Pod"],
		[
			"of another version",
			"m1",
			{ ...web(), apiVersion: "apps/v1" },
			400,
			"invalid object type: apps/v1, Kind=Service",
		],
		["of no kind", "m1", {}, 400, "invalid object type: /, Kind="],
		[
			"of a list",
			"m1",
			"[]",
			400,
			"error decoding YAML: json: cannot unmarshal array into Go value of type map[string]interface {}",
		],
		["with managedFields", "m1", web({ metadata: { managedFields: [] } }), 400, "metadata.managedFields must be nil"],
		[
			"for another name",
			"m1",
			web({ metadata: { name: "b" } }),
			400,
			"the name of the object (b) does not match the name on the URL (web)",
		],
		[
			"with an undeclared field",
			"m1",
			web({ metadata: { namespace: "default" }, spec: { foo: 1 } }),
			500,
			"failed to create typed patch object (default/web; /v1, Kind=Service): .spec.foo: field not declared in schema",
		],
		[
			"with a uid for what is not there",
			"m1",
			web({ metadata: { uid } }),
			409,
			`Operation cannot be fulfilled on services "web": uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
		],
	])("%s", async (_, manager, body, status, message) => {
		const { status: code, json } = await apply(manager, body);
		expect([code, json.message]).toEqual([status, message]);
	});

	test("with a resourceVersion that is not the stored one", async () => {
		await apply("m1", web());
		expect((await apply("m1", web({ metadata: { resourceVersion: "1" } }))).json.reason).toBe("Conflict");
	});

	test("under Strict, for a field that came twice", async () => {
		const body =
			'{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"type":"ClusterIP","type":"ClusterIP","ports":[{"port":80}]}}';
		const refused = await apply("m1", body, "&fieldValidation=Strict");
		expect([refused.status, refused.json.message]).toEqual([
			400,
			'error strict decoding YAML: duplicate field "spec.type"',
		]);
		expect((await apply("m1", body)).headers["warning"]).toEqual(['299 - "duplicate field \\"spec.type\\""']);
	});

	test("under Strict, for a field that came twice in YAML; else the last one counts, with a warning", async () => {
		const head = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
		const yaml = `${head}spec:\n  ports:\n  - {name: a, port: 80, port: 81}\n  - {name: b, port: 9}\n`;
		const refused = await apply("m1", yaml, "&fieldValidation=Strict");
		expect([refused.status, refused.json.message]).toEqual([
			400,
			'error strict decoding YAML: duplicate field "spec.ports[0].port"',
		]);
		const made = await apply("m1", yaml);
		expect(made.headers["warning"]).toEqual(['299 - "duplicate field \\"spec.ports[0].port\\""']);
		expect(made.json).toMatchObject({ spec: { ports: [{ port: 81 }, { port: 9 }] } });
	});
});

describe("other writes", () => {
	const write = (method: string, path: string, body: unknown, contentType?: string, agent = "curl/8.1") =>
		server.request(method, path, {
			body,
			headers: { "user-agent": agent },
			...(contentType === undefined ? {} : { contentType }),
		});
	const Merge = "application/merge-patch+json";

	test("are owned by the program that asks, or by whom it names", async () => {
		await write("POST", SERVICES, web());
		const { json } = await write(
			"PATCH",
			`${SERVICES}/web?fieldManager=me`,
			{ metadata: { labels: { a: "1" } } },
			Merge,
		);
		expect(json.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
			["curl", "Update"],
			["me", "Update"],
		]);
	});

	test("take from others what they change, and what they remove", async () => {
		await apply("m1", labelled({ a: "1", b: "1", c: "1" }));
		const { json } = await write("PATCH", `${SERVICES}/web`, { metadata: { labels: { a: "2", b: null } } }, Merge);
		expect(owners(json)).toEqual([
			`m1 Apply: {"f:metadata":{"f:labels":{"f:c":{}}},${PORT_80}}`,
			'curl Update: {"f:metadata":{"f:labels":{"f:a":{}}}}',
		]);
	});

	test("of the status own nothing of the spec, and the main resource nothing of the status", async () => {
		await write("POST", DEPLOYMENTS, {
			metadata: { name: "d" },
			spec: {
				selector: { matchLabels: { a: "b" } },
				template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
			},
			status: { replicas: 9 },
		});
		const { json } = await write(
			"PATCH",
			`${DEPLOYMENTS}/d/status`,
			{ spec: { replicas: 5 }, status: { replicas: 3 } },
			Merge,
		);
		expect(owners(json).map((text) => text.slice(0, 60))).toEqual([
			expect.stringContaining('curl Update: {"f:spec":{"f:progressDeadlineSeconds":{}'),
			'curl Update status: {"f:status":{"f:replicas":{}}}',
		]);
	});

	test("that change nothing keep the time", async () => {
		const first = await write("POST", SERVICES, labelled({ a: "1" }));
		await server.clock.advance(5_000);
		expect((await write("PUT", `${SERVICES}/web`, first.json)).json).toEqual(first.json);
	});

	test("may hand fields over, and what cannot be read changes nothing", async () => {
		const { json } = await write("POST", SERVICES, web());
		const [entry] = json.metadata.managedFields ?? [];
		const op = (value: unknown) => [{ op: "replace", path: "/metadata/managedFields", value }];
		const JsonPatch = "application/json-patch+json";
		const renamed = await write(
			"PATCH",
			`${SERVICES}/web`,
			op([{ ...entry, manager: "kubectl", operation: "Apply" }]),
			JsonPatch,
		);
		expect(renamed.json.metadata.managedFields).toEqual([{ ...entry, manager: "kubectl", operation: "Apply" }]);
		const kept = await write("PATCH", `${SERVICES}/web`, op([{ ...entry, operation: "Take" }]), JsonPatch);
		expect(kept.json.metadata.managedFields).toEqual(renamed.json.metadata.managedFields);
	});

	test.each([[[]], [[{}]]])("clear it all by %j, and nobody owns anything until an apply", async (managedFields) => {
		await write("POST", SERVICES, web());
		const { json } = await write("PATCH", `${SERVICES}/web`, { metadata: { managedFields } }, Merge);
		expect(json.metadata.managedFields).toBeUndefined();
		const later = await write("PATCH", `${SERVICES}/web`, { metadata: { labels: { a: "1" } } }, Merge);
		expect(later.json.metadata.managedFields).toBeUndefined();
	});

	test("by a program without a name are owned by unknown", async () => {
		const { json } = await write("POST", SERVICES, web(), undefined, "");
		expect(json.metadata.managedFields?.[0]?.manager).toBe("unknown");
	});
});

describe("the manager kubectl", () => {
	const annotated = (labels: Given) => {
		const config = JSON.stringify({ ...web(), metadata: { name: "web", annotations: {}, labels } });
		return web({ metadata: { labels, annotations: { [LAST_APPLIED]: `${config}\n` } } });
	};

	test("takes over what its client-side apply has set, and keeps the annotation up to date", async () => {
		await server.request("POST", `${SERVICES}?fieldManager=kubectl-client-side-apply`, { body: annotated({ a: "1" }) });
		const { status, json } = await apply("kubectl", labelled({ a: "2" }));
		expect([status, json.metadata.labels]).toEqual([200, { a: "2" }]);
		expect(JSON.parse(json.metadata.annotations?.[LAST_APPLIED] ?? "")).toEqual(labelled({ a: "2" }));
	});

	test("is refused what another has changed since", async () => {
		await server.request("POST", `${SERVICES}?fieldManager=kubectl-client-side-apply`, { body: annotated({ a: "1" }) });
		await apply("other", labelled({ a: "9" }), FORCE);
		expect((await apply("kubectl", labelled({ a: "2" }))).json.message).toContain('conflict with "other"');
	});
});

describe("applying to a subresource", () => {
	const container = { name: "c", image: "i" };
	const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container] } };
	const spec = { selector: { matchLabels: { a: "b" } }, template, replicas: 1 };
	const Scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" } };
	const Status = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } };
	beforeEach(async () => {
		await server.request("POST", `${DEPLOYMENTS}?fieldManager=maker`, { body: { metadata: { name: "d" }, spec } });
	});
	const stored = async () => (await server.request("GET", `${DEPLOYMENTS}/d`)).json;

	test("scale owns the size of the workload, and can lose it", async () => {
		const to = (replicas: number, more = "") =>
			apply("hpa", { ...Scale, spec: { replicas } }, more, `${DEPLOYMENTS}/d/scale`);
		expect((await to(3)).json.message).toBe(
			'Apply failed with 1 conflict: conflict with "maker" using apps/v1: .spec.replicas',
		);
		expect((await to(3, FORCE)).json.spec).toEqual({ replicas: 3 });
		expect(owners(await stored())[0]).toBe('hpa Apply scale: {"f:spec":{"f:replicas":{}}}');
		const { json } = await apply("m1", { ...Status, spec }, "", `${DEPLOYMENTS}/d`);
		expect(json.message).toBe(
			'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale": .spec.replicas',
		);
	});

	test("scale refuses what a Scale has not", async () => {
		const { json } = await apply("hpa", { ...Scale, spec: { size: 3 } }, "", `${DEPLOYMENTS}/d/scale`);
		expect(json.message).toContain("(/d; autoscaling/v1, Kind=Scale): .spec.size: field not declared in schema");
	});

	test("status owns the status alone", async () => {
		const body = { ...Status, spec: { replicas: 7 }, status: { replicas: 2 } };
		const { status, json } = await apply("st", body, "", `${DEPLOYMENTS}/d/status`);
		expect([status, json.status, json.spec?.["replicas"]]).toEqual([200, { replicas: 2 }, 1]);
		expect(owners(json)[0]).toBe('st Apply status: {"f:status":{"f:replicas":{}}}');
	});

	test("of what is not there is NotFound", async () => {
		const body = { ...Status, metadata: { name: "x" } };
		expect((await apply("st", body, "", `${DEPLOYMENTS}/x/status`)).status).toBe(404);
	});
});
