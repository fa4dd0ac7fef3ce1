/** What real servers store in versions that are not served: the facts are those of upstream's conversions. */
import { describe, expect, test } from "vitest";
import { validateDefinition } from "../../api/kinds/custom-resource-definition-validation.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions.ts";
import { objectOfValue } from "./stored-values.ts";

const DEFINITIONS = "/registry/apiextensions.k8s.io/customresourcedefinitions/";

function read(space: string, value: object): object {
	return objectOfValue(space, new TextEncoder().encode(JSON.stringify(value)));
}

const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
const subresources = { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } };

function definition(spec: object, status?: object): CustomResourceDefinition {
	const value = {
		kind: "CustomResourceDefinition",
		apiVersion: "apiextensions.k8s.io/v1beta1",
		metadata: { name: "crontabs.stable.example.com" },
		spec: { group: "stable.example.com", names: { plural: "crontabs", kind: "CronTab" }, ...spec },
		...(status === undefined ? {} : { status }),
	};
	return read(DEFINITIONS, value) as CustomResourceDefinition;
}

describe("a CustomResourceDefinition of v1beta1, as real servers store it", () => {
	test("has in each version what stood once for all", () => {
		const { apiVersion, spec, status } = definition(
			{
				version: "v1",
				versions: [
					{ name: "v1", served: true, storage: true },
					{ name: "v1alpha1", served: false, storage: false, deprecated: true },
				],
				scope: "Cluster",
				validation: schema,
				subresources,
				additionalPrinterColumns: [{ name: "N", type: "integer", JSONPath: ".spec.n", priority: 1 }],
				selectableFields: [{ jsonPath: ".spec.n" }],
				preserveUnknownFields: false,
				conversion: { strategy: "None" },
			},
			{ storedVersions: ["v1", "v1alpha1"], acceptedNames: { plural: "crontabs", kind: "CronTab" } },
		);
		const common = {
			schema,
			subresources,
			selectableFields: [{ jsonPath: ".spec.n" }],
			additionalPrinterColumns: [{ name: "N", type: "integer", jsonPath: ".spec.n", priority: 1 }],
		};
		expect(apiVersion).toBe("apiextensions.k8s.io/v1");
		expect(spec).toEqual({
			group: "stable.example.com",
			names: { plural: "crontabs", kind: "CronTab", singular: "crontab", listKind: "CronTabList" },
			scope: "Cluster",
			versions: [
				{ name: "v1", served: true, storage: true, ...common },
				{ name: "v1alpha1", served: false, storage: false, deprecated: true, ...common },
			],
			conversion: { strategy: "None" },
		});
		expect(status).toMatchObject({ storedVersions: ["v1", "v1alpha1"] });
	});

	test("keeps what differs between versions, with its columns' paths", () => {
		const { spec } = definition({
			versions: [
				{ name: "v1", served: true, storage: true, schema, additionalPrinterColumns: [{ name: "A", JSONPath: ".a" }] },
				{ name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } }, subresources },
			],
			preserveUnknownFields: false,
		});
		expect(spec.versions).toMatchObject([
			{ name: "v1", schema, additionalPrinterColumns: [{ name: "A", jsonPath: ".a" }] },
			{ name: "v2", schema: { openAPIV3Schema: { type: "object" } }, subresources },
		]);
		expect(spec.versions[0]?.additionalPrinterColumns?.[0]).not.toHaveProperty("JSONPath");
	});

	test("has the defaults of its version: one version by name, namespaced, unknown fields kept", () => {
		const { spec, status } = definition({ version: "v1" });
		expect(spec).toMatchObject({
			scope: "Namespaced",
			versions: [{ name: "v1", served: true, storage: true }],
			preserveUnknownFields: true,
			conversion: { strategy: "None" },
		});
		expect(spec).not.toHaveProperty("version");
		expect(status).toEqual({ storedVersions: ["v1"] });
	});

	test("has its webhook where v1 has it", () => {
		const clientConfig = { service: { namespace: "default", name: "w", path: "/c", port: 443 }, caBundle: "AAAA" };
		const conversion = { strategy: "Webhook", webhookClientConfig: clientConfig };
		const reviewed = { ...conversion, conversionReviewVersions: ["v1"] };
		const versions = [{ name: "v1", served: true, storage: true }];
		expect(definition({ versions, conversion: reviewed }).spec.conversion).toEqual({
			strategy: "Webhook",
			webhook: { clientConfig, conversionReviewVersions: ["v1"] },
		});
		expect(definition({ versions, conversion }).spec.conversion).toMatchObject({
			webhook: { conversionReviewVersions: ["v1beta1"] },
		});
	});

	test("is one that v1 takes", () => {
		const read = definition({ version: "v1", validation: schema, subresources, preserveUnknownFields: false });
		expect(validateDefinition(read)).toEqual([]);
	});

	test.each([{ versions: "x" }, { versions: [1] }, { additionalPrinterColumns: 1, version: "v1" }, { version: 1 }])(
		"of a wrong shape is refused: %j",
		(spec) => {
			expect(() => definition(spec)).toThrow("cannot unmarshal");
		},
	);
});

describe("older versions of other kinds", () => {
	test.each([
		["/registry/ipaddresses/", "networking.k8s.io/v1beta1", "IPAddress", { spec: { parentRef: { name: "a" } } }],
		["/registry/leases/", "coordination.k8s.io/v1beta1", "Lease", { spec: { holderIdentity: "a" } }],
		["/registry/clusterroles/", "rbac.authorization.k8s.io/v1beta1", "ClusterRole", { rules: [{ verbs: ["get"] }] }],
		["/registry/deployments/", "extensions/v1beta1", "Deployment", { spec: { replicas: 3 } }],
	])("at %s %s %s is read as it is", (space, apiVersion, kind, rest) => {
		const object = read(space, { kind, apiVersion, metadata: { name: "a" }, ...rest });
		expect(object).toMatchObject({ kind, ...rest });
		expect(object).not.toMatchObject({ apiVersion });
	});

	test.each([
		[
			{ topology: { "kubernetes.io/hostname": "n1", "topology.kubernetes.io/zone": "a" } },
			{ nodeName: "n1", zone: "a" },
		],
		[{ topology: { "kubernetes.io/hostname": "n1" }, nodeName: "n1" }, { nodeName: "n1" }],
		[
			{ topology: { "kubernetes.io/hostname": "h", x: "y" }, nodeName: "n1" },
			{ nodeName: "n1", deprecatedTopology: { "kubernetes.io/hostname": "h", x: "y" } },
		],
		[{ nodeName: "n1" }, { nodeName: "n1" }],
		[{}, {}],
	])("an endpoint of v1beta1 with %j has %j", (given, expected) => {
		const head = { kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1beta1", metadata: { name: "a" } };
		const endpoints = [{ addresses: ["10.0.0.1"], ...given }];
		const object = read("/registry/endpointslices/", { ...head, addressType: "IPv4", endpoints });
		expect(object).toMatchObject({ apiVersion: "discovery.k8s.io/v1" });
		expect(object).toHaveProperty("endpoints", [{ addresses: ["10.0.0.1"], conditions: {}, ...expected }]);
	});
});
