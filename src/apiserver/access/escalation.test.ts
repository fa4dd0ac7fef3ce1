import { beforeEach, describe, expect, test } from "vitest";
import { type TestResponse, TestServer } from "../../testing/test-server.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const NODES = [{ verbs: ["get"], apiGroups: [""], resources: ["nodes"] }];
const PODS = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
const MORE = "is attempting to grant RBAC permissions not currently held";
const MERGE = "application/merge-patch+json";
const asAnn = { headers: { "impersonate-user": "ann" } };

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start({ roles: true });
	await give("admin");
});

/** To ann, in the namespace. */
function give(role: string): Promise<TestResponse> {
	return server.request("POST", BINDINGS, { body: bindingTo("ClusterRole", role, `ann-${role}`) });
}

function bindingTo(kind: string, name: string, as = "new"): object {
	return { metadata: { name: as }, subjects: [{ kind: "User", name: "ann" }], roleRef: { kind, name } };
}

async function saidTo(request: Promise<TestResponse>): Promise<string> {
	const { status, json } = await request;
	return `${status} ${json.message ?? ""}`;
}

describe("an administrator of a namespace", () => {
	test("is refused a small rule that stands for a billion rights, in a few lines", async () => {
		const words = (prefix: string): string[] => Array.from({ length: 1_000 }, (_, index) => `${prefix}${index}`);
		const rules = [{ verbs: words("v"), apiGroups: words("g"), resources: words("r") }];
		const said = await saidTo(server.request("POST", ROLES, { body: { metadata: { name: "x" }, rules }, ...asAnn }));
		expect(said).toMatch(/^403 .*not currently held:\n{APIGroups:\["g0"\]/);
		expect(said).toMatch(/\nthe rules stand for too many rights to look at each of them: split the role/);
		expect(said.length).toBeLessThan(70_000);
	});

	test.each([
		["a role of rights that are held", ROLES, { metadata: { name: "x" }, rules: PODS }, /^201 $/],
		["a role of other rights", ROLES, { metadata: { name: "x" }, rules: NODES }, new RegExp(MORE)],
		["a binding to a role whose rights are held", BINDINGS, bindingTo("ClusterRole", "view"), /^201 $/],
		["a binding to another role", BINDINGS, bindingTo("ClusterRole", "system:node"), new RegExp(MORE)],
		[
			"a binding to no role",
			BINDINGS,
			bindingTo("Role", "none"),
			/^404 roles.rbac.authorization.k8s.io "none" not found$/,
		],
		["a binding to a role of no kind", BINDINGS, bindingTo("Rule", "none"), /^422 .*roleRef.kind: Unsupported value/],
	])("makes %s", async (_, path, body, said) => {
		expect(await saidTo(server.request("POST", path, { body, ...asAnn }))).toMatch(said);
	});

	test("cannot put rights into a role, by no kind of write", async () => {
		await server.request("POST", ROLES, { body: { metadata: { name: "x" }, rules: PODS }, ...asAnn });
		const put = { metadata: { name: "x" }, rules: NODES };
		const writes: readonly (readonly [method: string, contentType: string, body: object])[] = [
			["PUT", "application/json", put],
			["PATCH", "application/merge-patch+json", { rules: NODES }],
			["PATCH", "application/strategic-merge-patch+json", { rules: NODES }],
			["PATCH", "application/json-patch+json", [{ op: "replace", path: "/rules", value: NODES }]],
			["PATCH", "application/apply-patch+yaml", { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", ...put }],
		];
		for (const [method, contentType, body] of writes) {
			const query = contentType.includes("apply") ? "?fieldManager=x&force=true" : "";
			expect(await saidTo(server.request(method, `${ROLES}/x${query}`, { body, contentType, ...asAnn }))).toMatch(MORE);
		}
	});

	test("changes nothing of a role that has more but what is for the garbage collector", async () => {
		await server.request("POST", ROLES, { body: { metadata: { name: "big" }, rules: NODES } });
		const said = (metadata: object): Promise<string> =>
			saidTo(server.request("PATCH", `${ROLES}/big`, { body: { metadata }, contentType: MERGE, ...asAnn }));
		expect(await said({ labels: { a: "b" } })).toMatch(MORE);
		expect(await said({ finalizers: ["example.com/a"] })).toBe("200 ");
	});

	test.each([
		["escalate", "roles", ROLES, { metadata: { name: "x" }, rules: NODES }],
		["bind", "clusterroles", BINDINGS, bindingTo("ClusterRole", "cluster-admin")],
	])("may do it with the verb %s", async (verb, resource, path, body) => {
		const rules = [{ verbs: [verb], apiGroups: ["rbac.authorization.k8s.io"], resources: [resource] }];
		await server.request("POST", `${RBAC}/clusterroles`, { body: { metadata: { name: "free" }, rules } });
		await give("free");
		expect(await saidTo(server.request("POST", path, { body, ...asAnn }))).toBe("201 ");
	});
});

test("who may change roles gains nothing by labels that other roles collect", async () => {
	const rules = [{ verbs: ["get", "patch"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"] }];
	await server.request("POST", `${RBAC}/clusterroles`, { body: { metadata: { name: "labeller" }, rules } });
	const subjects = [{ kind: "User", name: "ann" }];
	const roleRef = { kind: "ClusterRole", name: "labeller" };
	await server.request("POST", `${RBAC}/clusterrolebindings`, { body: { metadata: { name: "l" }, subjects, roleRef } });
	const body = { metadata: { labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } } };
	const patch = { body, contentType: MERGE, ...asAnn };
	expect(await saidTo(server.request("PATCH", `${RBAC}/clusterroles/cluster-admin`, patch))).toMatch(MORE);
	expect(await saidTo(server.request("PATCH", `${RBAC}/clusterroles/labeller`, patch))).toBe("200 ");
});

test("only who may do everything makes a role that takes from others", async () => {
	const all = [{ verbs: ["*"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"] }];
	const subjects = [{ kind: "User", name: "ann" }];
	const roleRef = { kind: "ClusterRole", name: "keeper" };
	await server.request("POST", `${RBAC}/clusterroles`, {
		body: { metadata: { name: "keeper" }, rules: all.map((rule) => ({ ...rule, verbs: ["create"] })) },
	});
	await server.request("POST", `${RBAC}/clusterrolebindings`, { body: { metadata: { name: "k" }, subjects, roleRef } });
	const body = { metadata: { name: "sum" }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } };
	expect(await saidTo(server.request("POST", `${RBAC}/clusterroles`, { body, ...asAnn }))).toBe(
		'403 clusterroles.rbac.authorization.k8s.io "sum" is forbidden: must have cluster-admin privileges to use the aggregationRule',
	);
});
