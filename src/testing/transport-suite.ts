/**
 * What every ApiClient promises, whatever lies between it and the server. Run it over each of them.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEPLOYMENTS, ENDPOINTS, NAMESPACES, PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Pod, Service } from "../api/types/core.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import type { ApiClient, WatchOptions } from "../machinery/api-client.ts";
import { Informer } from "../machinery/informer.ts";
import type { TestServer } from "./test-server.ts";
import { WatchReader } from "./watch-reader.ts";

export interface Transport {
	readonly client: ApiClient;
	/** The server at the other end. */
	readonly server: TestServer;
	/** Cuts every connection; absent where there are none. */
	cut?(): Promise<void>;
	close(): Promise<void>;
}

const inDefault = (name: string): { namespace: string; name: string } => ({ namespace: "default", name });

function podDraft(name: string, labels: Readonly<Record<string, string>> = {}): Draft<Pod> {
	return { metadata: { name, labels }, spec: { containers: [{ name: "c", image: "i" }] } };
}

function serviceDraft(name: string): Draft<Service> {
	return { metadata: { name }, spec: { ports: [{ port: 80 }] } };
}

/** The Status of the refusal, without its message. */
async function refusal(request: Promise<unknown>): Promise<object> {
	const error = await request.then(
		() => new Error("not refused"),
		(reason: unknown) => reason,
	);
	if (!(error instanceof ApiError)) throw error;
	const { reason, code, details } = error;
	return { reason, code, ...details };
}

export function transportSuite(open: () => Promise<Transport>): void {
	let transport: Transport;
	let client: ApiClient;
	let stop: AbortController;

	beforeEach(async () => {
		stop = new AbortController();
		transport = await open();
		client = transport.client;
	});
	afterEach(async () => {
		stop.abort();
		await transport.close();
	});

	const watching = <T extends KubeObject>(
		resource: Parameters<typeof client.watch<T>>[0],
		options: Omit<WatchOptions, "signal">,
	): WatchReader<T> => new WatchReader(client.watch(resource, { ...options, signal: stop.signal }));

	describe("reading", () => {
		test("gives whole, frozen objects, alone and in lists", async () => {
			await client.create(PODS, "default", podDraft("a"));
			const list = await client.list(PODS, { namespace: "default" });
			const pod = await client.get(PODS, inDefault("a"));
			expect(pod).toMatchObject({ apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default" } });
			expect(list.items).toEqual([pod]);
			expect([Object.isFrozen(pod), Object.isFrozen(pod.spec), Object.isFrozen(list.items[0]?.metadata)]).toEqual([
				true,
				true,
				true,
			]);
			expect(Number(list.resourceVersion)).toBeGreaterThanOrEqual(Number(pod.metadata.resourceVersion));
		});

		test.each([
			["every namespace", {}, "x/far default/a default/b"],
			["one namespace", { namespace: "x" }, "x/far"],
			["a label selector", { labelSelector: "app in (web), !old" }, "x/far default/a"],
			["a field selector", { fieldSelector: "metadata.name=b" }, "default/b"],
			["a resourceVersion that is reached", { namespace: "x", resourceVersion: "1" }, "x/far"],
		])("lists %s", async (_, options, names) => {
			await client.create(NAMESPACES, "", { metadata: { name: "x" } });
			await client.create(PODS, "x", podDraft("far", { app: "web" }));
			await client.create(PODS, "default", podDraft("a", { app: "web" }));
			await client.create(PODS, "default", podDraft("b", { app: "web", old: "" }));
			const { items } = await client.list(PODS, options);
			const found = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
			expect(found.sort()).toEqual(names.split(" ").sort());
		});
	});

	describe("refusals", () => {
		const rows: readonly [string, () => Promise<unknown>, object][] = [
			[
				"get of what is not there is NotFound",
				() => client.get(SERVICES, inDefault("gone")),
				{ reason: "NotFound", code: 404, name: "gone", kind: "services" },
			],
			[
				"delete of what is not there is NotFound, with the group",
				() => client.delete(DEPLOYMENTS, inDefault("gone")),
				{ reason: "NotFound", code: 404, name: "gone", group: "apps", kind: "deployments" },
			],
			[
				"create of a taken name is AlreadyExists",
				() => client.create(SERVICES, "default", serviceDraft("web")),
				{ reason: "AlreadyExists", code: 409, name: "web", kind: "services" },
			],
			[
				"create in a missing namespace is NotFound of the namespace",
				() => client.create(SERVICES, "gone", serviceDraft("a")),
				{ reason: "NotFound", code: 404, name: "gone", kind: "namespaces" },
			],
			[
				"an object that breaks rules is Invalid, with a cause for each field",
				() =>
					client.create(SERVICES, "default", {
						metadata: { name: "b" },
						spec: { ports: [{ port: 70_000, targetPort: 80 }] },
					}),
				{
					reason: "Invalid",
					code: 422,
					name: "b",
					kind: "Service",
					causes: [
						{
							reason: "FieldValueInvalid",
							message: "Invalid value: 70000: must be between 1 and 65535, inclusive",
							field: "spec.ports[0].port",
						},
					],
				},
			],
			[
				"a selector that cannot be read is BadRequest",
				() => client.list(PODS, { labelSelector: "a in b" }),
				{ reason: "BadRequest", code: 400 },
			],
			[
				"a uid that is not the stored one is Conflict",
				() => client.delete(SERVICES, inDefault("web"), { preconditions: { uid: "other" } }),
				{ reason: "Conflict", code: 409, name: "web", kind: "services" },
			],
		];

		test.each(rows)("%s", async (_, request, expected) => {
			await client.create(SERVICES, "default", serviceDraft("web"));
			expect(await refusal(request())).toEqual(expected);
		});

		test("an update of an older version is Conflict, and changes nothing", async () => {
			const first = await client.create(SERVICES, "default", serviceDraft("web"));
			const relabelled = (by: string): Service => ({ ...first, metadata: { ...first.metadata, labels: { by } } });
			await client.update(SERVICES, relabelled("one"));
			expect(await refusal(client.update(SERVICES, relabelled("two")))).toMatchObject({
				reason: "Conflict",
				code: 409,
			});
			expect((await client.get(SERVICES, inDefault("web"))).metadata.labels).toEqual({ by: "one" });
		});
	});

	describe("writing", () => {
		test("create fills in what the server owns, and makes a name from generateName", async () => {
			const { metadata } = await client.create(PODS, "default", {
				...podDraft(""),
				metadata: { generateName: "web-" },
			});
			expect(metadata).toMatchObject({ namespace: "default", generation: 1 });
			expect(metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
			expect([metadata.uid, metadata.resourceVersion, metadata.creationTimestamp]).not.toContain("");
		});

		test.each([
			["merge", { metadata: { labels: { b: null, c: "3" } } }, { a: "1", c: "3" }],
			["strategic", { metadata: { labels: { a: "2" } } }, { a: "2", b: "2" }],
			["json", [{ op: "remove", path: "/metadata/labels/a" }], { b: "2" }],
		] as const)("patch takes a %s patch", async (type, body, labels) => {
			await client.create(PODS, "default", podDraft("p", { a: "1", b: "2" }));
			const patched = await client.patch(PODS, inDefault("p"), { type, body });
			expect(patched.metadata.labels).toEqual(labels);
		});

		test("update and patch of the status leave the spec alone, and the other way round", async () => {
			const pod = await client.create(PODS, "default", podDraft("p"));
			const running: Pod = { ...pod, spec: { ...pod.spec, restartPolicy: "Never" }, status: { phase: "Running" } };
			await client.update(PODS, running, { subresource: "status" });
			const body = { status: { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] } };
			await client.patch(PODS, inDefault("p"), { type: "merge", body }, { subresource: "status" });
			await client.patch(PODS, inDefault("p"), { type: "merge", body: { status: { phase: "Failed" } } });
			const { spec, status } = await client.get(PODS, inDefault("p"));
			expect([spec.restartPolicy, status?.phase, status?.podIP]).toEqual(["Always", "Running", "10.0.0.1"]);
		});

		test("update and patch of the scale change the size and nothing else", async () => {
			const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
			const spec = { replicas: 1, selector: { matchLabels: { app: "web" } }, template };
			const made = await client.create(DEPLOYMENTS, "default", { metadata: { name: "web" }, spec });
			const scale = { type: "merge", body: { spec: { replicas: 3 } } } as const;
			const answer = await client.patch(DEPLOYMENTS, inDefault("web"), scale, { subresource: "scale" });
			expect(answer).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 3 } });
			await client.update(DEPLOYMENTS, { ...answer, spec: { ...answer.spec, replicas: 4 } }, { subresource: "scale" });
			const { metadata, spec: now } = await client.get(DEPLOYMENTS, inDefault("web"));
			expect([now.replicas, metadata.generation]).toEqual([4, 3]);
			expect(now.template).toEqual(made.spec.template);
		});

		test("post binds a pod to a node", async () => {
			await client.create(PODS, "default", podDraft("p"));
			const status = await client.post(PODS, inDefault("p"), "binding", { target: { kind: "Node", name: "n1" } });
			expect(status).toMatchObject({ kind: "Status", status: "Success" });
			expect((await client.get(PODS, inDefault("p"))).spec.nodeName).toBe("n1");
		});
	});

	describe("deleting", () => {
		test("answers with the object, or with a Status that has its uid, as the kind has it", async () => {
			const service = await client.create(SERVICES, "default", serviceDraft("a"));
			const endpoints = await client.create(ENDPOINTS, "default", { metadata: { name: "b" } });
			expect(await client.delete(SERVICES, inDefault("a"))).toMatchObject({ metadata: { uid: service.metadata.uid } });
			expect(await client.delete(ENDPOINTS, inDefault("b"))).toMatchObject({
				kind: "Status",
				status: "Success",
				details: { name: "b", kind: "endpoints", uid: endpoints.metadata.uid },
			});
		});

		test("marks a pod that runs on a node, and removes it with grace 0", async () => {
			await client.create(PODS, "default", { ...podDraft("p"), spec: { ...podDraft("p").spec, nodeName: "n1" } });
			const marked = await client.delete(PODS, inDefault("p"), { gracePeriodSeconds: 7 });
			expect(marked).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 7 } });
			await client.delete(PODS, inDefault("p"), { gracePeriodSeconds: 0 });
			expect(await refusal(client.get(PODS, inDefault("p")))).toMatchObject({ reason: "NotFound" });
		});

		test("of a collection takes what the selector matches, in one namespace", async () => {
			await client.create(NAMESPACES, "", { metadata: { name: "x" } });
			await client.create(PODS, "x", podDraft("far", { app: "web" }));
			await client.create(PODS, "default", podDraft("a", { app: "web" }));
			await client.create(PODS, "default", podDraft("b", { app: "other" }));
			await client.deleteCollection(PODS, "default", { labelSelector: "app=web" });
			const { items } = await client.list(PODS, {});
			expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(["b", "far"]);
		});
	});

	describe("watching", () => {
		const relabel = (name: string, app: string): Promise<Pod> =>
			client.patch(PODS, inDefault(name), { type: "merge", body: { metadata: { labels: { app } } } });

		test("is ordered, unique and reliable: every change after the start, once, in the order of revisions", async () => {
			const { resourceVersion } = await client.list(PODS, {});
			const watch = watching(PODS, { resourceVersion });
			const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
			await Promise.all(names.map((name) => client.create(PODS, "default", podDraft(name))));
			await Promise.all(names.map((name) => relabel(name, "web")));
			await Promise.all(names.map((name) => client.delete(PODS, inDefault(name))));
			await watch.told(150);
			const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
			expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
			for (const name of names) {
				const own = watch.events.filter(({ object }) => object.metadata.name === name).map(({ type }) => type);
				expect(own).toEqual(["ADDED", "MODIFIED", "DELETED"]);
			}
		});

		test("is resumable: from the last version seen it goes on as if it had never ended", async () => {
			const { resourceVersion } = await client.list(PODS, {});
			const whole = watching(PODS, { resourceVersion });
			for (const name of ["a", "b", "c", "d"]) await client.create(PODS, "default", podDraft(name));
			const all = await whole.told(4);
			const middle = whole.events[1]?.object.metadata.resourceVersion ?? "";
			expect(await watching(PODS, { resourceVersion: middle }).told(2)).toEqual(all.slice(2));
		});

		test("is selective: entering is ADDED, leaving is DELETED with the old state and the new version", async () => {
			const { resourceVersion } = await client.list(PODS, {});
			const watch = watching(PODS, { resourceVersion, namespace: "default", labelSelector: "app=web" });
			await client.create(PODS, "default", podDraft("never"));
			await client.create(PODS, "default", podDraft("p", { app: "other" }));
			const entered = await relabel("p", "web");
			const left = await relabel("p", "other");
			const told = await watch.told(2);
			expect(told).toEqual([
				`ADDED p@${entered.metadata.resourceVersion}`,
				`DELETED p@${left.metadata.resourceVersion}`,
			]);
			expect(watch.events[1]?.object.metadata.labels).toEqual({ app: "web" });
		});

		test("gives objects that are whole and frozen", async () => {
			const { resourceVersion } = await client.list(PODS, {});
			const watch = watching(PODS, { resourceVersion, fieldSelector: "metadata.name=p" });
			const pod = await client.create(PODS, "default", podDraft("p"));
			await watch.told(1);
			expect(watch.events[0]?.object).toEqual(pod);
			expect(Object.isFrozen(watch.events[0]?.object.spec)).toBe(true);
		});

		test("rejects with Expired when the history after its start is forgotten", async () => {
			const { resourceVersion } = await client.list(PODS, {});
			await client.create(PODS, "default", podDraft("a"));
			await client.create(PODS, "default", podDraft("b"));
			transport.server.store.view.compact(transport.server.store.revision);
			const error = await watching(PODS, { resourceVersion }).ended;
			expect(error).toMatchObject({ name: "ApiError", reason: "Expired", code: 410 });
		});

		test("ends without an error when it is aborted, also while nothing happens", async () => {
			const { resourceVersion } = await client.list(PODS, {});
			const watch = watching(PODS, { resourceVersion });
			await client.create(PODS, "default", podDraft("a"));
			await watch.told(1);
			stop.abort();
			expect(await watch.ended).toBeUndefined();
		});

		test("ends at once when it is aborted before it begins", async () => {
			stop.abort();
			expect(await watching(PODS, { resourceVersion: "1" }).ended).toBeUndefined();
		});

		test("rejects with what the server refuses", async () => {
			const error = await watching(PODS, { resourceVersion: "0", fieldSelector: "spec.foo=1" }).ended;
			expect(error).toMatchObject({ name: "ApiError", reason: "BadRequest" });
		});
	});

	test("an informer follows the server, and again after every connection was cut", async () => {
		const { clock, random } = transport.server;
		const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
		const informer = new Informer({ client, clock, random, log }, PODS);
		const running = informer.run(stop.signal);
		await informer.whenSynced(stop.signal);
		const follows = async (write: Promise<KubeObject>): Promise<void> => {
			const version = Number((await write).metadata.resourceVersion);
			// Virtual time runs only while the informer waits to try again; the sockets have their turns in between.
			for (let turn = 0; turn < TURNS_MAX && Number(informer.asOf) < version; turn++) await clock.advance(1_000);
		};
		await follows(client.create(PODS, "default", podDraft("a")));
		await transport.cut?.();
		// A read is sent again when the kept connection is gone; a write is not, since it may have been done.
		await client.list(PODS, {});
		await follows(client.create(PODS, "default", podDraft("b")));
		await client.delete(PODS, inDefault("a"));
		await follows(client.patch(PODS, inDefault("b"), { type: "merge", body: { metadata: { labels: { x: "y" } } } }));
		const { items } = await client.list(PODS, {});
		expect(informer.list()).toEqual(items);
		stop.abort();
		await running;
	});
}

const TURNS_MAX = 1_000;
