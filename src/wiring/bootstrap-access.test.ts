import { describe, expect, test } from "vitest";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES } from "../api/resource-names.ts";
import type { KubeObject } from "../api/types/meta.ts";
import type { ClusterRole } from "../api/types/rbac.ts";
import { assertDefined } from "../kernel/assert.ts";
import { FaultyClient } from "../testing/faulty-client.ts";
import { startTestPlane } from "../testing/test-plane.ts";
import { TestServer } from "../testing/test-server.ts";
import { bootstrapAccess } from "./bootstrap-access.ts";

const at = (name: string) => ({ namespace: "", name });
const AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate";

describe("a start", () => {
	test("over roles that are right writes nothing", async () => {
		const server = await TestServer.start({ roles: true });
		const { revision } = server.store;
		await bootstrapAccess(server.client);
		expect(server.store.revision).toBe(revision);
	});

	test("gives back what a role has lost, and leaves what was added", async () => {
		const { client } = await TestServer.start({ roles: true });
		const role = await client.get(CLUSTER_ROLES, at("system:kube-dns"));
		const added = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
		await client.update(CLUSTER_ROLES, { ...role, rules: added, metadata: { ...role.metadata, labels: {} } });
		await bootstrapAccess(client);
		const mended = await client.get(CLUSTER_ROLES, at("system:kube-dns"));
		expect(mended.rules).toEqual([...added, ...assertDefined(role.rules, "rules")]);
		expect(mended.metadata.labels).toEqual(role.metadata.labels);
	});

	test("leaves alone what says so", async () => {
		const { client } = await TestServer.start({ roles: true });
		const role = await client.get(CLUSTER_ROLES, at("system:kube-dns"));
		const metadata = { ...role.metadata, annotations: { [AUTOUPDATE]: "false" } };
		await client.update(CLUSTER_ROLES, { ...role, rules: [], metadata });
		await bootstrapAccess(client);
		expect((await client.get(CLUSTER_ROLES, at("system:kube-dns"))).rules ?? []).toEqual([]);
	});

	test("gives a binding its subjects and its role back", async () => {
		const { client } = await TestServer.start({ roles: true });
		const { subjects: _, ...binding } = await client.get(CLUSTER_ROLE_BINDINGS, at("system:discovery"));
		await client.update(CLUSTER_ROLE_BINDINGS, binding);
		const other = await client.get(CLUSTER_ROLE_BINDINGS, at("system:basic-user"));
		await client.delete(CLUSTER_ROLE_BINDINGS, at("system:basic-user"));
		const { name, labels, annotations } = other.metadata;
		const roleRef = { ...other.roleRef, name: "cluster-admin" };
		await client.create(CLUSTER_ROLE_BINDINGS, "", {
			metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
			roleRef,
		});
		await bootstrapAccess(client);
		expect(await client.get(CLUSTER_ROLE_BINDINGS, at("system:discovery"))).toMatchObject({
			subjects: [{ kind: "Group", name: "system:authenticated" }],
		});
		expect(await client.get(CLUSTER_ROLE_BINDINGS, at(name))).toMatchObject({
			roleRef: { name: "system:basic-user" },
			subjects: other.subjects,
		});
	});
});

describe("servers that start at once on one store", () => {
	test("come to the same roles and bindings, and none fails", async () => {
		const alone = await TestServer.start({ roles: true });
		const first = await TestServer.start();
		const others = [
			first,
			await TestServer.start({ store: first.store }),
			await TestServer.start({ store: first.store }),
		];
		await Promise.all(others.map(({ client }) => bootstrapAccess(client)));
		const content = async ({ client }: TestServer): Promise<unknown> => {
			const roles = await client.list(CLUSTER_ROLES, {});
			const bindings = await client.list(CLUSTER_ROLE_BINDINGS, {});
			return [
				roles.items.map(({ metadata, rules }) => [metadata.name, rules]),
				bindings.items.map(({ metadata, roleRef, subjects }) => [metadata.name, roleRef, subjects]),
			];
		};
		expect(await content(first)).toEqual(await content(alone));
	});

	test.each([
		["a role", CLUSTER_ROLES, "view"],
		["a binding", CLUSTER_ROLE_BINDINGS, "system:discovery"],
	] as const)("%s that another one mends at the same time is looked at anew", async (_, resource, name) => {
		const server = await TestServer.start({ roles: true });
		const { labels: _lost, ...rest } = (await server.client.get<KubeObject>(resource, at(name))).metadata;
		const stored = await server.client.get<KubeObject>(resource, at(name));
		await server.client.update<KubeObject>(resource, { ...stored, metadata: rest });
		let overtaken = 0;
		const client = new FaultyClient(server.client, {
			async call({ verb, name: written }, send) {
				if (verb !== "update" || written !== name || overtaken > 0) return send();
				overtaken++;
				await bootstrapAccess(server.client);
				return send();
			},
		});
		await bootstrapAccess(client);
		expect(overtaken).toBe(1);
		expect((await server.client.get<KubeObject>(resource, at(name))).metadata.labels).toEqual(stored.metadata.labels);
	});
});

describe("aggregated roles", () => {
	test("follow the roles that they take from, through each other", async () => {
		const plane = await startTestPlane({ nodes: 0, roles: true });
		const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
		const rule = { verbs: ["get"], apiGroups: ["example.com"], resources: ["widgets"] };
		const has = async (name: string): Promise<boolean> => {
			const role: ClusterRole = await plane.client.get(CLUSTER_ROLES, at(name));
			return JSON.stringify(role.rules).includes("widgets");
		};
		await plane.client.create(CLUSTER_ROLES, "", { metadata: { name: "more", labels }, rules: [rule] });
		await plane.settle();
		expect([await has("view"), await has("edit"), await has("admin")]).toEqual([true, true, true]);
		await plane.client.delete(CLUSTER_ROLES, at("more"));
		await plane.settle();
		expect([await has("view"), await has("edit"), await has("admin")]).toEqual([false, false, false]);
		expect(plane.warnings).toEqual([]);
		await plane.stop();
	});
});
