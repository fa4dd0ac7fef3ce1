/** API servers on one real etcd: what they write, what they show of each other, and what becomes of them when it fails. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CONFIG_MAPS, ENDPOINTS, LEASES, NODES } from "../../src/api/resource-names.ts";
import { DISCOVERED_TYPES, RESOURCE_TYPES } from "../../src/api/resource-table.ts";
import type { Lease } from "../../src/api/types/coordination.ts";
import type { ConfigMap, Endpoints } from "../../src/api/types/core.ts";
import type { KubeObject } from "../../src/api/types/meta.ts";
import { ClaimRepair } from "../../src/apiserver/claim-repair.ts";
import { COMPACT_KEY, Compactor } from "../../src/edge/etcd/compactor.ts";
import type { KeyValue } from "../../src/edge/etcd/messages.ts";
import { type EtcdStore, openEtcdStore } from "../../src/edge/etcd/open-etcd-store.ts";
import { SystemClock } from "../../src/edge/system-clock.ts";
import { ignoreNotFound } from "../../src/machinery/expected-errors.ts";
import { EtcdProcess, etcdProblem } from "../../src/testing/etcd-process.ts";
import { RecordingMetrics } from "../../src/testing/recording-metrics.ts";
import { silentLogger } from "../../src/testing/silent.ts";
import { TestServer } from "../../src/testing/test-server.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import { openEtcd } from "../../src/wiring/open-etcd.ts";
import { systemPorts } from "../../src/wiring/system-ports.ts";
import { CutWay } from "./cut-way.ts";
import { openStore, type RawEtcd, rawEtcd } from "./etcd-stores.ts";
import { Part } from "./parts.ts";
import { eventually, finished, PROGRAM, RunningPlane } from "./plane.ts";

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

/** A certificate that is its own authority. */
function selfSigned(folder: string, name = "IP:127.0.0.1"): { readonly cert: string; readonly key: string } {
	const [cert, key] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
	const made = spawnSync("openssl", [
		...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
		...["-subj", "/CN=etcd", "-addext", `subjectAltName=${name}`, "-keyout", key, "-out", cert],
	]);
	if (made.status !== 0) throw new Error(String(made.stderr));
	return { cert, key };
}

const hasTools = ["openssl", "curl"].every((tool) => spawnSync(tool, ["version"]).error === undefined);
if (!hasTools) process.stderr.write("skipped: sliceplane up on etcd: no openssl, or no curl\n");

describe.skipIf(problem !== undefined || !hasTools)("sliceplane up on etcd", () => {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-etcd-up-"));
	const alone = ["--nodes", "0", "--network", "none", "--controllers", "-scheduler"];
	let etcd: EtcdProcess;
	let flags: readonly string[];
	beforeAll(async () => {
		const { cert, key } = selfSigned(folder);
		const tls = ["--cert-file", cert, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", cert];
		etcd = await EtcdProcess.start(tls);
		const files = ["--etcd-cafile", cert, "--etcd-certfile", cert, "--etcd-keyfile", key];
		flags = ["--etcd-servers", etcd.url, "--etcd-prefix", "/shop", ...files];
	});
	afterAll(async () => {
		await etcd.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	test("two API servers are one cluster, over TLS, and one that starts later knows it", async () => {
		const planes = await Promise.all([
			RunningPlane.start([...alone, ...flags]),
			RunningPlane.start([...alone, ...flags]),
		]);
		const [a, b] = await Promise.all(planes.map(({ kubeconfig }) => clusterClient({ kubeconfig })));
		if (a === undefined || b === undefined) throw new Error("no clients");
		for (let index = 0; index < 20; index++) {
			const [one, other] = index % 2 === 0 ? [a, b] : [b, a];
			await one.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name: `c${index}` } });
			const read = await other.get<ConfigMap>(CONFIG_MAPS, { namespace: "default", name: `c${index}` });
			await other.update<ConfigMap>(CONFIG_MAPS, { ...read, data: { a: "b" } });
			const now = await one.get<ConfigMap>(CONFIG_MAPS, { namespace: "default", name: `c${index}` });
			expect(now.data).toEqual({ a: "b" });
		}
		for (const client of [a, b]) client.close();
		// Nor does Node warn of anything, such as of an address that is asked for as a name.
		for (const { stderr } of planes) expect(stderr).not.toMatch(/warning/i);
		await Promise.all(planes.map((plane) => plane.stop()));
		const third = await RunningPlane.start([...alone, ...flags]);
		const client = await clusterClient({ kubeconfig: third.kubeconfig });
		expect((await client.list<ConfigMap>(CONFIG_MAPS, { namespace: "default" })).items).toHaveLength(20);
		client.close();
		expect(await third.stop()).toBe(0);
	});

	test("a plane and an API server alone agree on where the API is, and neither writes it again", async () => {
		const kept = ["--controllers", "kubernetes-service-controller"];
		const plane = await RunningPlane.start(["--nodes", "0", "--network", "none", ...kept, ...flags]);
		const file = path.join(folder, "beside");
		const server = await new Part(["apiserver", "--listen", "127.0.0.1:0", "--kubeconfig", file, ...flags]).ready();
		const client = await clusterClient({ kubeconfig: file });
		const ports = [plane.url, server.stdout].map((text) => Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]));
		const place = { namespace: "default", name: "kubernetes" };
		const endpoints = () => ignoreNotFound(client.get<Endpoints>(ENDPOINTS, place));
		const portsOf = (now: Endpoints | undefined) =>
			(now?.subsets ?? []).flatMap((each) => (each.ports ?? []).map(({ port }) => port));
		const both = await eventually(endpoints, (now) => portsOf(now).join() === ports.toSorted((a, b) => a - b).join());
		// Both have looked again when both have renewed their Leases.
		const renewals = async (): Promise<readonly string[]> =>
			(await client.list<Lease>(LEASES, { namespace: "kube-system" })).items
				.filter(({ metadata: { labels } }) => labels?.["apiserver.kubernetes.io/identity"] !== undefined)
				.map(({ spec }) => spec?.renewTime ?? "");
		const before = await renewals();
		expect(before).toHaveLength(2);
		await eventually(renewals, (now) => now.every((time) => !before.includes(time)));
		expect((await endpoints())?.metadata.resourceVersion).toBe(both?.metadata.resourceVersion);
		client.close();
		await Promise.all([plane.stop(), server.end()]);
	});

	test("of two whole planes one works, and the other one does when that is gone", async () => {
		const plane = (name: string): Part => {
			const file = path.join(folder, name);
			const words = ["up", "--listen", "127.0.0.1:0", "--kubeconfig", file, "--nodes", "1", "--network", "none"];
			return new Part([...words, ...flags]);
		};
		const first = await plane("first").ready();
		const [second, third] = [plane("second"), plane("third")];
		const standsBy = (part: Part): Promise<string> =>
			eventually(
				() => Promise.resolve(part.stderr),
				(text) => /Standing by: \S+ holds the Lease kube-system\/sliceplane-controllers/.test(text),
			);
		await Promise.all([standsBy(second), standsBy(third)]);
		expect(await third.end()).toBe(0);
		const client = await clusterClient({ kubeconfig: path.join(folder, "second") });
		expect((await client.list(NODES, {})).items.map(({ metadata: { name } }) => name)).toEqual(["n1"]);
		expect(second.stdout).toBe("");
		expect(await first.end()).toBe(0);
		await second.ready();
		client.close();
		expect(await second.end()).toBe(0);
	});

	test("is not ready while etcd is away, and ready when it is back", async () => {
		const plane = await RunningPlane.start([...alone, ...flags]);
		const ready = async (): Promise<string> => (await finished("curl", ["-sk", `${plane.url}/readyz`])).stdout;
		expect(await ready()).toBe("ok");
		await etcd.kill();
		await eventually(ready, (text) => text.includes("[-]etcd failed"));
		const client = await clusterClient({ kubeconfig: plane.kubeconfig });
		await client.get(CONFIG_MAPS, { namespace: "default", name: "c0" }).then(
			() => expect.unreachable(),
			({ code }: { readonly code: number }) => expect([500, 503, 504]).toContain(code),
		);
		await etcd.restart();
		await eventually(
			() => client.list(CONFIG_MAPS, { namespace: "default" }).then(() => "", String),
			(problem) => problem === "",
		);
		await eventually(ready, (text) => text === "ok");
		client.close();
		await plane.stop();
	});

	test("a mistake with TLS is told with its cause and its flag, in bounded time", async () => {
		const [own, other] = [path.join(folder, "cert.pem"), path.join(folder, "other")];
		mkdirSync(other);
		const { cert, key } = selfSigned(other);
		const [plain, named] = [await EtcdProcess.start(), path.join(folder, "named")];
		mkdirSync(named);
		const ofName = selfSigned(named, "DNS:localhost");
		const byName = await EtcdProcess.start(["--cert-file", ofName.cert, "--key-file", ofName.key]);
		const secure = plain.url.replace("http:", "https:");
		const [caFile, certFile, keyFile] = [own, own, path.join(folder, "key.pem")];
		const cases = [
			[etcd.url, {}, "its certificate is not trusted: want --etcd-cafile"],
			[etcd.url, { caFile: cert }, "its certificate is not trusted: it is not signed by --etcd-cafile"],
			[etcd.url, { caFile }, "it wants a certificate of its clients: want --etcd-certfile and --etcd-keyfile"],
			[etcd.url, { caFile, certFile: cert, keyFile: key }, "it does not take the certificate of --etcd-certfile"],
			[etcd.url.replace("127.0.0.1", "localhost"), { caFile, certFile, keyFile }, "is for other names than the one in"],
			[byName.url, { caFile: ofName.cert }, "is for other names than the one in"],
			[etcd.url.replace("https:", "http:"), {}, "it closes connections without TLS: want https:// in --etcd-servers"],
			[secure, { caFile }, "it does not speak TLS: want http:// in --etcd-servers"],
			["https://127.0.0.1:1", {}, "nobody listens there (connection refused)"],
			[etcd.url, { caFile: keyFile }, `--etcd-cafile ${keyFile}: want certificates in PEM, found a PRIVATE KEY`],
			[etcd.url, { caFile, certFile, keyFile: key }, `--etcd-keyfile ${key}: want the key of the certificate in`],
		] as const;
		const open = (url: string, files: object): Promise<EtcdStore> => {
			const options = { servers: [url], prefix: "/shop", compactionIntervalMs: 0 };
			const none = { caFile: undefined, certFile: undefined, keyFile: undefined };
			return openEtcd({ ...options, ...none, ...files }, systemPorts("error"));
		};
		await Promise.all(
			cases.map(async ([url, files, why]) => {
				const told = await open(url, files).then(() => "opened", String);
				expect(told, `${url} ${JSON.stringify(files)}`).toContain(why);
			}),
		);
		await (await open(byName.url.replace("127.0.0.1", "localhost"), { caFile: ofName.cert })).close();
		for (const each of [plain, byName]) await each.stop();
	});

	test("an etcd that is not there is an error that says so, in bounded time", async () => {
		const args = [PROGRAM, "up", "--listen", "127.0.0.1:0", "--etcd-servers", "http://127.0.0.1:1"];
		const { status, stderr } = await finished(process.execPath, args, { cwd: folder });
		expect(status).toBe(1);
		expect(stderr).toContain("--etcd-servers http://127.0.0.1:1: etcd cannot be reached");
	});
});
