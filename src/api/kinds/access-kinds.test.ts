import { describe, expect, test } from "vitest";
import { CLUSTER_ROLE, ROLE } from "./role.ts";
import { CLUSTER_ROLE_BINDING, ROLE_BINDING } from "./role-binding.ts";

const GROUP = "rbac.authorization.k8s.io";
const metadata = { name: "x", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const META = { apiVersion: `${GROUP}/v1`, kind: "", metadata };

/** `field: what is wrong`, of the object with its defaults. */
function errorsOf(type: typeof ROLE, object: object): readonly string[] {
	return type.validate(type.withDefaults({ ...META, ...object })).map(({ field, body }) => `${field}: ${body}`);
}

const GET = ["get"];
const NO_VERB = "rules[0].verbs: Required value: verbs must contain at least one value";
const NO_GROUP = "rules[0].apiGroups: Required value: resource rules must supply at least one api group";
const NO_RESOURCE = "rules[0].resources: Required value: resource rules must supply at least one resource";

describe("rules of a role", () => {
	test.each<[string, object, readonly string[]]>([
		["verbs, groups and resources", { verbs: GET, apiGroups: [""], resources: ["pods"] }, []],
		["nothing", { verbs: [] }, [NO_VERB, NO_GROUP, NO_RESOURCE]],
		["names alone", { verbs: GET, resourceNames: ["a"] }, [NO_GROUP, NO_RESOURCE]],
		[
			"paths",
			{ verbs: GET, nonResourceURLs: ["/x"] },
			['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
		],
		[
			"paths and names",
			{ verbs: GET, nonResourceURLs: ["/x"], resourceNames: ["a"] },
			[
				'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
				'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
			],
		],
	])("%s", (_, rule, errors) => {
		expect(errorsOf(ROLE, { rules: [rule] })).toEqual(errors);
	});

	test("may be none", () => {
		expect([errorsOf(ROLE, {}), errorsOf(ROLE, { rules: null }), errorsOf(CLUSTER_ROLE, { rules: [] })]).toEqual([
			[],
			[],
			[],
		]);
	});

	test("of a cluster may name paths, and be taken from others by selectors that can be read", () => {
		expect(errorsOf(CLUSTER_ROLE, { rules: [{ verbs: GET, nonResourceURLs: ["/x"] }] })).toEqual([]);
		expect(errorsOf(CLUSTER_ROLE, { aggregationRule: {} })).toEqual([
			"aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
		]);
		const [error = ""] = errorsOf(CLUSTER_ROLE, {
			aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "-": "" } }] },
		});
		expect(error).toMatch(/^aggregationRule.clusterRoleSelectors\[0\].matchLabels: Invalid value: "-"/);
	});
});

describe("a binding", () => {
	const roleRef = { kind: "ClusterRole", name: "view" };

	test("is filled with the groups that its words are of", () => {
		const subjects = [
			{ kind: "User", name: "ann" },
			{ kind: "Group", name: "ops" },
			{ kind: "ServiceAccount", name: "web", namespace: "shop", apiGroup: "" },
		];
		expect(ROLE_BINDING.withDefaults({ ...META, subjects, roleRef } as object as typeof META)).toMatchObject({
			roleRef: { apiGroup: GROUP, ...roleRef },
			subjects: [
				{ kind: "User", apiGroup: GROUP, name: "ann" },
				{ kind: "Group", apiGroup: GROUP, name: "ops" },
				{ kind: "ServiceAccount", name: "web", namespace: "shop" },
			],
		});
	});

	test.each<[string, typeof ROLE, object, readonly string[]]>([
		["is right", ROLE_BINDING, { roleRef, subjects: [{ kind: "User", name: "ann" }] }, []],
		[
			"of an account of its own namespace",
			ROLE_BINDING,
			{ roleRef, subjects: [{ kind: "ServiceAccount", name: "web" }] },
			[],
		],
		[
			"of an account of no namespace, to the cluster",
			CLUSTER_ROLE_BINDING,
			{ roleRef, subjects: [{ kind: "ServiceAccount", name: "web" }] },
			["subjects[0].namespace: Required value"],
		],
		[
			"to no role",
			ROLE_BINDING,
			{},
			['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', "roleRef.name: Required value"],
		],
		[
			"of a namespace's role to the cluster",
			CLUSTER_ROLE_BINDING,
			{ roleRef: { kind: "Role", name: "view" } },
			['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
		],
		[
			"to a role of a wrong name",
			ROLE_BINDING,
			{ roleRef: { kind: "Role", name: "a/b" } },
			["roleRef.name: Invalid value: \"a/b\": may not contain '/'"],
		],
		[
			"of subjects that are none",
			ROLE_BINDING,
			{
				roleRef,
				subjects: [
					{ kind: "Robot", name: "" },
					{ kind: "User", name: "ann", apiGroup: "x" },
				],
			},
			[
				"subjects[0].name: Required value",
				'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
				`subjects[1].apiGroup: Unsupported value: "x": supported values: "${GROUP}"`,
			],
		],
	])("%s", (_, type, object, errors) => {
		expect(errorsOf(type, object)).toEqual(errors);
	});

	test("keeps its role", () => {
		const stored = ROLE_BINDING.withDefaults({ ...META, roleRef } as object as typeof META);
		const next = ROLE_BINDING.withDefaults({ ...META, roleRef: { ...roleRef, name: "edit" } } as object as typeof META);
		expect(ROLE_BINDING.validateUpdate(next, stored)).toMatchObject([
			{ field: "roleRef", body: expect.stringMatching(/: cannot change roleRef$/) },
		]);
		expect(ROLE_BINDING.validateUpdate(stored, stored)).toEqual([]);
	});

	test("shows its subjects by kind", () => {
		const subjects = [
			{ kind: "User", name: "ann" },
			{ kind: "User", name: "bob" },
			{ kind: "ServiceAccount", name: "web", namespace: "shop" },
		];
		const object = ROLE_BINDING.withDefaults({ ...META, subjects, roleRef } as object as typeof META);
		const nowMs = Date.parse("2026-01-01T00:01:00Z");
		expect(ROLE_BINDING.table.cells(object, nowMs)).toEqual([
			"x",
			"ClusterRole/view",
			"60s",
			"ann, bob",
			"",
			"shop/web",
		]);
	});
});
