import { describe, expect, test } from "vitest";
import { DESCRIPTIONS } from "../schema/descriptions.ts";
import { messageOf } from "../schema/schema.ts";
import { type DocumentedResource, openApiHash, openApiIndex, openApiV3Document } from "./document.ts";

const SERVICES: DocumentedResource = {
	group: "",
	version: "v1",
	kind: "Service",
	plural: "services",
	namespaced: true,
	schema: "core.Service",
	verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
	subresources: [{ name: "status", verbs: ["get", "patch", "update"] }],
};
const NAMESPACES: DocumentedResource = {
	...SERVICES,
	kind: "Namespace",
	plural: "namespaces",
	namespaced: false,
	schema: "core.Namespace",
	verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
};
const DEPLOYMENTS: DocumentedResource = {
	...SERVICES,
	group: "apps",
	kind: "Deployment",
	plural: "deployments",
	schema: "apps.Deployment",
	subresources: [
		{
			name: "scale",
			kind: { group: "autoscaling", version: "v1", kind: "Scale" },
			verbs: ["get", "patch", "update"],
		},
	],
};
const ALL = [SERVICES, NAMESPACES, DEPLOYMENTS];

function at(value: unknown, ...path: string[]): unknown {
	return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

describe("openApiV3Document()", () => {
	const core = openApiV3Document("v1", ALL);
	const apps = openApiV3Document("apps/v1", ALL);

	test("announces field validation and dry run on the patch of every kind", () => {
		for (const [document, path, gvk] of [
			[core, "/api/v1/namespaces/{namespace}/services/{name}", { group: "", version: "v1", kind: "Service" }],
			[core, "/api/v1/namespaces/{name}", { group: "", version: "v1", kind: "Namespace" }],
			[
				apps,
				"/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
				{ group: "apps", version: "v1", kind: "Deployment" },
			],
		] as const) {
			const patch = at(document.paths, path, "patch");
			expect(at(patch, "x-kubernetes-group-version-kind")).toEqual(gvk);
			const parameters = at(patch, "parameters") as readonly { name: string; in: string }[];
			expect(parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).toEqual([
				"query dryRun",
				"query fieldManager",
				"query fieldValidation",
				"query force",
			]);
		}
	});

	test("names no body of a patch, so that kubectl computes patches by its own types", () => {
		const patches = [core, apps].flatMap((document) => Object.values(document.paths).map((item) => at(item, "patch")));
		expect(patches.some((patch) => at(patch, "requestBody") !== undefined)).toBe(false);
	});

	test("has the paths that the verbs allow", () => {
		expect(Object.keys(core.paths)).toEqual([
			"/api/v1/services",
			"/api/v1/namespaces/{namespace}/services",
			"/api/v1/namespaces/{namespace}/services/{name}",
			"/api/v1/namespaces/{namespace}/services/{name}/status",
			"/api/v1/namespaces",
			"/api/v1/namespaces/{name}",
			"/api/v1/namespaces/{name}/status",
		]);
		expect(at(core.paths, "/api/v1/namespaces", "delete")).toBeUndefined();
		expect(at(core.paths, "/api/v1/namespaces/{namespace}/services", "delete")).toBeDefined();
	});

	test("publishes what patches and server-side apply need to know", () => {
		const spec = core.components.schemas["io.k8s.api.core.v1.ServiceSpec"];
		expect(at(spec, "properties", "ports")).toEqual({
			description: expect.any(String),
			type: "array",
			items: { $ref: "#/components/schemas/io.k8s.api.core.v1.ServicePort" },
			"x-kubernetes-list-type": "map",
			"x-kubernetes-list-map-keys": ["port", "protocol"],
			"x-kubernetes-patch-strategy": "merge",
			"x-kubernetes-patch-merge-key": "port",
		});
		expect(at(spec, "properties", "selector", "x-kubernetes-map-type")).toBe("atomic");
		const pod = apps.components.schemas["io.k8s.api.core.v1.PodSpec"];
		expect(at(pod, "properties", "volumes", "x-kubernetes-patch-strategy")).toBe("merge,retainKeys");
		expect(at(apps.components.schemas["io.k8s.api.apps.v1.DeploymentSpec"], "required")).toEqual([
			"selector",
			"template",
		]);
	});

	test("marks kinds with a list of one", () => {
		expect(at(core.components.schemas, "io.k8s.api.core.v1.Service", "x-kubernetes-group-version-kind")).toEqual([
			{ group: "", version: "v1", kind: "Service" },
		]);
		expect(at(apps.components.schemas, "io.k8s.api.apps.v1.DeploymentList", "x-kubernetes-group-version-kind")).toEqual(
			[{ group: "apps", version: "v1", kind: "DeploymentList" }],
		);
	});

	test("refers to nothing that it does not contain", () => {
		for (const document of [core, apps]) {
			const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
			const missing = [...references]
				.map(([, name]) => name ?? "")
				.filter((name) => !(name in document.components.schemas));
			expect(missing).toEqual([]);
		}
	});

	test("gives the subresource's own kind", () => {
		const scale = at(apps.paths, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale", "patch");
		expect(at(scale, "x-kubernetes-group-version-kind")).toEqual({
			group: "autoscaling",
			version: "v1",
			kind: "Scale",
		});
		expect(apps.components.schemas["io.k8s.api.autoscaling.v1.Scale"]).toBeDefined();
	});
});

test("openApiIndex() links each group-version to its document, by hash", () => {
	expect(
		openApiIndex([
			{ groupVersion: "v1", hash: "A" },
			{ groupVersion: "apps/v1", hash: "B" },
		]),
	).toEqual({
		paths: {
			"api/v1": { serverRelativeURL: "/openapi/v3/api/v1?hash=A" },
			"apis/apps/v1": { serverRelativeURL: "/openapi/v3/apis/apps/v1?hash=B" },
		},
	});
});

test("openApiHash() tells texts apart", () => {
	expect(openApiHash("a")).toMatch(/^[0-9A-F]{32}$/);
	expect(openApiHash("a")).not.toBe(openApiHash("b"));
});

test("descriptions are about messages and fields that exist", () => {
	for (const name of Object.keys(DESCRIPTIONS)) {
		const [group, message, field] = name.split(".");
		const found = messageOf(`${group}.${message}`);
		expect([name, field === undefined || found.fields.has(field)]).toEqual([name, true]);
	}
});
