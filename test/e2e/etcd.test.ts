import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DISCOVERED_TYPES, RESOURCE_TYPES } from "../../src/api/resource-table.ts";
import type { KubeObject } from "../../src/api/types/meta.ts";
import { ClaimRepair } from "../../src/apiserver/claim-repair.ts";
import { COMPACT_KEY, Compactor } from "../../src/edge/etcd/compactor.ts";
import type { KeyValue } from "../../src/edge/etcd/messages.ts";
import { type EtcdStore, openEtcdStore } from "../../src/edge/etcd/open-etcd-store.ts";
import { SystemClock } from "../../src/edge/system-clock.ts";
import { EtcdProcess, etcdProblem } from "../../src/testing/etcd-process.ts";
import { RecordingMetrics } from "../../src/testing/recording-metrics.ts";
import { silentLogger } from "../../src/testing/silent.ts";
import { TestServer } from "../../src/testing/test-server.ts";
import { CutWay } from "./cut-way.ts";
import { openStore, type RawEtcd, rawEtcd } from "./etcd-stores.ts";
import { eventually } from "./plane.ts";

const problem = etcdProblem();
if (problem !== undefined) process.stderr.write(`skipped: API servers on etcd: ${problem}\n`);

const NAMESPACED = "/api/v1/namespaces/default";
const metadata = { name: "web" };
const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "x" }] } };
const workload = { selector: { matchLabels: { app: "web" } }, template };
const role = { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] };
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "web" };
const CRD = {
	metadata: { name: "crontabs.stable.example.com" },
	spec: {
		group: "stable.example.com",
		scope: "Namespaced",
		names: { plural: "crontabs", kind: "CronTab" },
		versions: [
			{
				name: "v1",
				served: true,
				storage: true,
				schema: {
					openAPIV3Schema: {
						type: "object",
						properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
					},
				},
			},
		],
	},
};

/** One object of every kind, by where it is made. */
const OBJECTS: Readonly<Record<string, object>> = {
	"/api/v1/namespaces": {},
	"/api/v1/nodes": {},
	[`${NAMESPACED}/configmaps`]: { data: { a: "<1>" } },
	[`${NAMESPACED}/endpoints`]: {},
	[`${NAMESPACED}/pods`]: { spec: template.spec },
	[`${NAMESPACED}/secrets`]: { data: { a: "AA==" } },
	[`${NAMESPACED}/serviceaccounts`]: {},
	[`${NAMESPACED}/services`]: {
		spec: { type: "NodePort", clusterIP: "10.96.0.10", ports: [{ port: 80, nodePort: 30080 }] },
	},
	[`${NAMESPACED}/events`]: {
		metadata: { name: "web", namespace: "default" },
		involvedObject: { kind: "Pod", name: "web", namespace: "default" },
	},
	"/apis/apps/v1/namespaces/default/controllerrevisions": { revision: 1, data: { a: 1 } },
	"/apis/apps/v1/namespaces/default/deployments": { spec: workload },
	"/apis/apps/v1/namespaces/default/replicasets": { spec: workload },
	"/apis/apps/v1/namespaces/default/statefulsets": { spec: { ...workload, serviceName: "web" } },
	"/apis/networking.k8s.io/v1/ipaddresses": {
		metadata: { name: "10.96.0.77" },
		spec: { parentRef: { resource: "services", name: "x", namespace: "default" } },
	},
	"/apis/rbac.authorization.k8s.io/v1/clusterroles": role,
	"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": { roleRef },
	"/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles": role,
	"/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings": { roleRef },
	"/apis/coordination.k8s.io/v1/namespaces/default/leases": { spec: {} },
	"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": { addressType: "IPv4", endpoints: [] },
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": CRD,
};

/** Where a real server keeps them, and the kind and version that it stores. */
const STORED: Readonly<Record<string, string>> = {
	"/registry/namespaces/web": "v1 Namespace",
	"/registry/minions/web": "v1 Node",
	"/registry/configmaps/default/web": "v1 ConfigMap",
	"/registry/services/endpoints/default/web": "v1 Endpoints",
	"/registry/pods/default/web": "v1 Pod",
	"/registry/secrets/default/web": "v1 Secret",
	"/registry/serviceaccounts/default/web": "v1 ServiceAccount",
	"/registry/services/specs/default/web": "v1 Service",
	"/registry/events/default/web": "v1 Event",
	"/registry/controllerrevisions/default/web": "apps/v1 ControllerRevision",
	"/registry/deployments/default/web": "apps/v1 Deployment",
	"/registry/replicasets/default/web": "apps/v1 ReplicaSet",
	"/registry/statefulsets/default/web": "apps/v1 StatefulSet",
	"/registry/ipaddresses/10.96.0.77": "networking.k8s.io/v1 IPAddress",
	"/registry/ipaddresses/10.96.0.10": "networking.k8s.io/v1 IPAddress",
	"/registry/clusterroles/web": "rbac.authorization.k8s.io/v1 ClusterRole",
	"/registry/clusterrolebindings/web": "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
	"/registry/roles/default/web": "rbac.authorization.k8s.io/v1 Role",
	"/registry/rolebindings/default/web": "rbac.authorization.k8s.io/v1 RoleBinding",
	"/registry/leases/default/web": "coordination.k8s.io/v1 Lease",
	"/registry/endpointslices/default/web": "discovery.k8s.io/v1 EndpointSlice",
	"/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.stable.example.com":
		"apiextensions.k8s.io/v1 CustomResourceDefinition",
	"/registry/stable.example.com/crontabs/default/web": "stable.example.com/v1 CronTab",
	"/registry/sliceplane.dev/nodeports/30080": "sliceplane.dev/v1 NodePortClaim",
};

async function created(server: TestServer, path: string, object: object): Promise<void> {
	const made = await server.request("POST", path, { body: { metadata, ...object } });
	expect(made.status, `${path}: ${made.text}`).toBe(201);
}

async function withEverything(server: TestServer): Promise<void> {
	for (const [path, object] of Object.entries(OBJECTS)) await created(server, path, object);
	const path = "/apis/stable.example.com/v1/namespaces/default/crontabs";
	await eventually(
		() => server.request("GET", path),
		({ status }) => status === 200,
	);
	await created(server, path, { apiVersion: "stable.example.com/v1", kind: "CronTab", spec: { a: 1 } });
}

const json = ({ value }: KeyValue): Record<string, unknown> => JSON.parse(new TextDecoder().decode(value));

describe.skipIf(problem !== undefined)("API servers on etcd", () => {
	let etcd: EtcdProcess;
	let raw: RawEtcd;
	const opened: EtcdStore[] = [];
	beforeAll(async () => {
		etcd = await EtcdProcess.start();
		raw = rawEtcd(etcd.url);
	});
	afterEach(async () => {
		await Promise.all(opened.splice(0).map((each) => each.close()));
	});
	afterAll(async () => {
		raw.close();
		await etcd.stop();
	});

	async function server(prefix: string, servers: readonly string[] = [etcd.url]): Promise<TestServer> {
		const store = await openStore({ servers, prefix });
		opened.push(store);
		return TestServer.start({ store: store.store });
	}

	async function keysBelow(prefix: string): Promise<readonly KeyValue[]> {
		return (await raw.client.range({ key: `${prefix}/`, rangeEnd: `${prefix}0` })).kvs;
	}

	const put = (key: string, value: string | Uint8Array) =>
		raw.client.txn({
			compare: [],
			success: [{ kind: "put", key, value: typeof value === "string" ? new TextEncoder().encode(value) : value }],
			failure: [],
		});

	test("every kind is stored under the key of a real server, as its JSON, and served from a copy", async () => {
		const first = await server("/registry");
		await withEverything(first);
		const found = new Map((await keysBelow("/registry")).map((kv) => [kv.key, kv]));
		const spaces = new Set(RESOURCE_TYPES.map(({ storagePrefix }) => storagePrefix));
		expect([...spaces].filter((space) => !Object.keys(STORED).some((key) => key.startsWith(space)))).toEqual([]);
		for (const [key, head] of Object.entries(STORED)) {
			const kv = found.get(key);
			if (kv === undefined) throw new Error(`nothing at ${key}`);
			const object = json(kv);
			expect(`${object["apiVersion"]} ${object["kind"]}`).toBe(head);
			expect(Object.keys(object).slice(0, 3)).toEqual(["kind", "apiVersion", "metadata"]);
			expect(object["metadata"]).not.toHaveProperty("resourceVersion");
			expect(kv.value.at(-1)).toBe(10);
		}
		for (const kv of found.values()) await put(kv.key.replace("/registry/", "/copy/"), kv.value);
		const second = await server("/copy");
		const types = DISCOVERED_TYPES.filter(({ verbs }) => verbs.some((verb) => verb === "list"));
		const custom = { group: "stable.example.com", version: "v1", plural: "crontabs" };
		for (const { group, version, plural } of [...types, custom]) {
			const path = group === "" ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`;
			const [a, b] = [await first.request("GET", path), await second.request("GET", path)];
			const items = ({ json }: { json: { items?: readonly KubeObject[] } }): readonly KubeObject[] =>
				(json.items ?? []).map((item) => ({ ...item, metadata: { ...item.metadata, resourceVersion: "" } }));
			expect(items(a).length, path).toBeGreaterThan(0);
			expect(items(b), path).toEqual(items(a));
		}
	});

	test("reads what a real server writes by default: protobuf", async () => {
		const envelope = new BinaryWriter();
		const text = (writer: BinaryWriter, field: number, value: string) =>
			writer.tag(field, WireType.LengthDelimited).string(value);
		envelope.tag(1, WireType.LengthDelimited).fork();
		text(text(envelope, 1, "v1"), 2, "ConfigMap").join();
		envelope.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).fork();
		text(text(envelope, 1, "old"), 3, "default").join();
		envelope.tag(2, WireType.LengthDelimited).fork();
		text(text(envelope, 1, "a"), 2, "b")
			.join()
			.join();
		const value = Buffer.concat([Buffer.from("k8s\0"), envelope.finish()]);
		await put("/proto/configmaps/default/old", value);
		const one = await server("/proto");
		const read = await one.request("GET", `${NAMESPACED}/configmaps/old`);
		expect(read.json).toMatchObject({ metadata: { name: "old", namespace: "default" }, data: { a: "b" } });
		await put("/proto/configmaps/default/new", value);
		expect((await one.request("GET", `${NAMESPACED}/configmaps/new`)).json).toMatchObject({ data: { a: "b" } });
	});

	test("serves the custom resources of a real cluster, whose definitions are stored as v1beta1", async () => {
		const names = { plural: "crontabs", singular: "crontab", kind: "CronTab", listKind: "CronTabList" };
		const condition = { status: "True", reason: "x", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
		const definition = {
			kind: "CustomResourceDefinition",
			apiVersion: "apiextensions.k8s.io/v1beta1",
			metadata: { name: "crontabs.old.example.com", uid: "u1", creationTimestamp: "2026-01-01T00:00:00Z" },
			spec: {
				group: "old.example.com",
				version: "v1",
				names,
				scope: "Namespaced",
				validation: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
				subresources: { status: {} },
				versions: [{ name: "v1", served: true, storage: true }],
				additionalPrinterColumns: [{ name: "N", type: "integer", JSONPath: ".spec.n" }],
				conversion: { strategy: "None" },
			},
			status: {
				conditions: ["NamesAccepted", "Established"].map((type) => ({ type, ...condition })),
				acceptedNames: names,
				storedVersions: ["v1"],
			},
		};
		const cronTab = {
			kind: "CronTab",
			apiVersion: "old.example.com/v1",
			metadata: { name: "a", namespace: "default" },
		};
		const crds = "apiextensions.k8s.io/customresourcedefinitions";
		await put(`/real/${crds}/crontabs.old.example.com`, JSON.stringify(definition));
		await put("/real/old.example.com/crontabs/default/a", JSON.stringify({ ...cronTab, spec: { n: 1 } }));
		const one = await server("/real");
		const path = "/apis/old.example.com/v1/namespaces/default/crontabs";
		// Nothing that its schema does not name is dropped: so it was in v1beta1.
		expect((await one.request("GET", `${path}/a`)).json).toMatchObject({ spec: { n: 1 } });
		await created(one, path, { ...cronTab, metadata: { name: "b" }, spec: { n: 2 }, more: { x: 1 } });
		expect((await one.request("GET", `${path}/b`)).json).toMatchObject({ spec: { n: 2 }, more: { x: 1 } });
		const table = await one.request("GET", path, {
			headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
		});
		expect(JSON.stringify(table.json["rows"])).toContain('"cells":["b",2]');
		const place = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.old.example.com";
		const body = { metadata: { labels: { a: "b" } } };
		const contentType = "application/merge-patch+json";
		const labelled = await one.request("PATCH", place, { body, contentType });
		expect(labelled.status, labelled.text).toBe(200);
		const [stored] = await keysBelow(`/real/${crds}`);
		expect(stored && json(stored)["apiVersion"]).toBe("apiextensions.k8s.io/v1");
		expect((await one.request("DELETE", place)).status).toBe(200);
		await eventually(
			() => one.request("GET", place),
			({ status }) => status === 404,
		);
		expect(await keysBelow("/real/old.example.com")).toEqual([]);
	});

	test("a value that cannot be read is left alone, told and counted, and the rest is served", async () => {
		const values = [
			"k8s:enc:aescbc:v1:key1:xxxx",
			"{",
			'{"kind":"Secret","apiVersion":"v1"}',
			'{"kind":"ConfigMap"}',
			"",
		];
		for (const [index, value] of values.entries()) await put(`/odd/configmaps/default/c${index}`, value);
		await put("/odd/masterleases/10.0.0.1", "not of a kind that is served");
		const metrics = new RecordingMetrics();
		const ports = { clock: new SystemClock(), log: silentLogger, metrics };
		const store = await openEtcdStore({ servers: [etcd.url], prefix: "/odd", ...ports });
		opened.push(store);
		const one = await TestServer.start({ store: store.store });
		expect(metrics.values.get("apiserver_storage_decode_errors_total{resource=/registry/configmaps/}")).toBe(5);
		await created(one, `${NAMESPACED}/configmaps`, {});
		expect((await one.request("GET", `${NAMESPACED}/configmaps`)).json.items).toHaveLength(1);
		const taken = await one.request("POST", `${NAMESPACED}/configmaps`, { body: { metadata: { name: "c1" } } });
		expect(taken.status).toBe(409);
		expect((await keysBelow("/odd/configmaps")).map(({ value }) => new TextDecoder().decode(value))).toEqual(
			expect.arrayContaining(values),
		);
	});

	test("what one server has acknowledged, the other shows and builds upon at once", async () => {
		const [a, b] = [await server("/two"), await server("/two")];
		for (let round = 0; round < 10; round++) {
			const body = { metadata: { name: `n${round}` } };
			expect((await a.request("POST", "/api/v1/namespaces", { body })).status).toBe(201);
			const path = `/api/v1/namespaces/n${round}/configmaps`;
			const made = await b.request("POST", path, { body: { metadata: { name: "c" }, data: { by: "b" } } });
			expect(made.status, made.text).toBe(201);
			const version = made.json.metadata.resourceVersion;
			const put = { ...made.json, data: { by: "a" } };
			expect((await a.request("PUT", `${path}/c`, { body: put })).status).toBe(200);
			expect((await b.request("PUT", `${path}/c`, { body: put })).status).toBe(409);
			expect((await b.request("GET", `${path}/c`)).json["data"]).toEqual({ by: "a" });
			const list = await b.request("GET", `${path}?limit=1`);
			expect(list.json.items).toHaveLength(1);
			const watch = await b.watch(`${path}?watch=true&resourceVersion=${version}`);
			await eventually(
				() => Promise.resolve(watch.events.length),
				(count) => count === 1,
			);
			watch.close();
			expect((await a.request("DELETE", `${path}/c`)).status).toBe(200);
			expect((await b.request("GET", `${path}/c`)).status).toBe(404);
		}
	});

	test("pages that one server cut go on at another", async () => {
		const [a, b] = [await server("/pages"), await server("/pages")];
		for (const name of ["a", "b", "c"]) await created(a, `${NAMESPACED}/configmaps`, { metadata: { name } });
		const page = await a.request("GET", `${NAMESPACED}/configmaps?limit=2`);
		const rest = await b.request("GET", `${NAMESPACED}/configmaps?continue=${page.json.metadata.continue}`);
		expect(rest.json.items?.map((item) => item.metadata.name)).toEqual(["c"]);
	});

	test("addresses and node ports are given out once, whichever server is asked", async () => {
		const servers = [await server("/claims"), await server("/claims")];
		const answers = await Promise.all(
			Array.from({ length: 40 }, (_, index) =>
				(servers[index % 2] as TestServer).request("POST", `${NAMESPACED}/services`, {
					body: { metadata: { name: `s${index}` }, spec: { type: "NodePort", ports: [{ port: 80 }] } },
				}),
			),
		);
		expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
		const held = (field: (spec: Record<string, unknown>) => unknown): number =>
			new Set(answers.map(({ json }) => field(json.spec ?? {}))).size;
		expect(held(({ clusterIP }) => clusterIP)).toBe(40);
		expect(held(({ ports }) => (ports as [{ nodePort: number }])[0].nodePort)).toBe(40);
	});

	test("what a Service held that was deleted in etcd is free again; what one holds that cannot be read is not", async () => {
		const one = await server("/orphans");
		for (const [name, nodePort] of [
			["gone", 30_081],
			["sealed", 30_082],
		] as const) {
			const spec = { type: "NodePort", clusterIP: `10.96.1.${nodePort - 30_000}`, ports: [{ port: 80, nodePort }] };
			await created(one, `${NAMESPACED}/services`, { metadata: { name }, spec });
		}
		await raw.client.txn({
			compare: [],
			success: [{ kind: "delete", key: "/orphans/services/specs/default/gone" }],
			failure: [],
		});
		await put("/orphans/services/specs/default/sealed", "k8s:enc:aescbc:v1:key1:xxxx");
		const stopping = new AbortController();
		const repairing = new ClaimRepair(one.server.ports).run(stopping.signal);
		const claims = async (): Promise<readonly string[]> => {
			await one.clock.advance(60_000);
			const found = await keysBelow("/orphans");
			return found.map(({ key }) => key).filter((key) => /ipaddresses|nodeports/.test(key));
		};
		const kept = ["/orphans/ipaddresses/10.96.1.82", "/orphans/sliceplane.dev/nodeports/30082"];
		await eventually(claims, (now) => now.join() === kept.join());
		for (let round = 0; round < 5; round++) expect(await claims()).toEqual(kept);
		stopping.abort();
		await one.clock.advance(60_000);
		await repairing;
	});

	test("Events have a lease of an hour, and a minute's share one", async () => {
		const one = await server("/events");
		for (const name of ["e1", "e2"]) {
			await created(one, `${NAMESPACED}/events`, {
				metadata: { name, namespace: "default" },
				involvedObject: { kind: "Pod", name: "web", namespace: "default" },
			});
		}
		await created(one, `${NAMESPACED}/configmaps`, {});
		const leases = new Map((await keysBelow("/events")).map(({ key, lease }) => [key, lease]));
		expect(leases.get("/events/events/default/e1")).not.toBe(0n);
		expect(leases.get("/events/events/default/e2")).toBe(leases.get("/events/events/default/e1"));
		expect(leases.get("/events/configmaps/default/web")).toBe(0n);
	});

	test("of several servers one compacts in an interval, and keeps what came in the last one", async () => {
		const ports = { clock: new SystemClock(), log: silentLogger };
		const [a, b] = [new Compactor(raw.client, ports), new Compactor(raw.client, ports)];
		const none = { version: 0, revision: 0 };
		const [first, late] = [await a.compact(none), await b.compact(none)];
		expect(late.version).toBe(first.version);
		await put("/compacted/x", "1");
		const [second, again] = [await b.compact(late), await a.compact(first)];
		expect(again.version).toBe(second.version);
		const at = (revision: number) => raw.client.range({ key: COMPACT_KEY, revision }).then(() => "there", String);
		expect(await at(late.revision)).toBe("there");
		expect(await at(late.revision - 1)).toContain("required revision has been compacted");
	});

	test("a server that missed what was compacted meanwhile starts anew, and tells its watchers", async () => {
		const way = await CutWay.to(etcd.url);
		const [behind, other] = [await server("/gap", [way.url]), await server("/gap")];
		for (const name of ["kept", "gone"]) await created(other, `${NAMESPACED}/configmaps`, { metadata: { name } });
		await behind.request("GET", `${NAMESPACED}/configmaps`);
		const kept = behind.store.space("/registry/configmaps/").get("default/kept");
		const watch = await behind.watch(`${NAMESPACED}/configmaps?watch=true`);
		const page = await behind.request("GET", `${NAMESPACED}/configmaps?limit=1`);
		way.cut();
		await other.request("DELETE", `${NAMESPACED}/configmaps/gone`);
		await created(other, `${NAMESPACED}/configmaps`, { metadata: { name: "new" } });
		await created(other, "/apis/rbac.authorization.k8s.io/v1/clusterroles", role);
		const user = { subjects: [{ kind: "User", name: "nobody" }], roleRef };
		await created(other, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", user);
		await created(other, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD);
		await raw.client.compact(other.store.revision);
		way.mend();
		const names = async () => {
			const { status, json } = await behind.request("GET", `${NAMESPACED}/configmaps`);
			return status === 200 ? json.items?.map((item) => item.metadata.name) : [];
		};
		await eventually(names, (now) => now?.join() === "kept,new");
		await eventually(
			() => Promise.resolve(watch.isEnded),
			(isEnded) => isEnded,
		);
		expect(JSON.stringify(watch.events)).toContain("too old resource version");
		expect(behind.store.space("/registry/configmaps/").get("default/kept")).toBe(kept);
		const next = await behind.request("GET", `${NAMESPACED}/configmaps?continue=${page.json.metadata.continue}`);
		expect(next.status).toBe(410);
		// What follows the store has noticed, too: roles, and definitions.
		expect((await behind.request("GET", `${NAMESPACED}/pods/x`, { token: "nobody" })).status).toBe(404);
		const crontabs = "/apis/stable.example.com/v1/crontabs";
		await eventually(
			() => behind.request("GET", crontabs),
			({ status }) => status === 200,
		);
		way.close();
	});

	test("goes on at another server of etcd when one fails", async () => {
		const ways = [await CutWay.to(etcd.url), await CutWay.to(etcd.url)] as const;
		const one = await server(
			"/ways",
			ways.map(({ url }) => url),
		);
		for (const [index, way] of [...ways, ways[0]].entries()) {
			for (const each of ways) each.mend();
			way.cut();
			await eventually(
				() => one.request("POST", `${NAMESPACED}/configmaps`, { body: { metadata: { name: `c${index}` } } }),
				({ status }) => status === 201,
			);
		}
		for (const way of ways) way.close();
	});
});
