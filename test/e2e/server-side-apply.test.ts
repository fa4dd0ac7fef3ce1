/** Server-side apply by real clients: kubectl of three versions, and the official JavaScript client. */
import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { type Finished, RunningPlane } from "./plane.ts";

let plane: RunningPlane;
beforeAll(async () => {
	plane = await RunningPlane.start(["--nodes", "1"]);
});
afterAll(() => plane?.stop());

function service(name: string, labels: Readonly<Record<string, string>>): string {
	// Who gives an empty map owns it.
	const metadata = Object.keys(labels).length === 0 ? { name } : { name, labels };
	const spec = { selector: { app: "a" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };
	return JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec });
}

const DEFINITION = JSON.stringify({
	apiVersion: "apiextensions.k8s.io/v1",
	kind: "CustomResourceDefinition",
	metadata: { name: "things.t8.io" },
	spec: {
		group: "t8.io",
		scope: "Namespaced",
		names: { plural: "things", singular: "thing", kind: "Thing" },
		versions: [
			{
				name: "v1",
				served: true,
				storage: true,
				schema: {
					openAPIV3Schema: {
						type: "object",
						properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
					},
				},
			},
		],
	},
});

describe.each(await kubectlVersions(28, 32, 35))("$name", ({ name: version, path: binary, missing }) => {
	const name = `web-${version.slice(-2)}`;
	const run = (input: string, ...args: readonly string[]): Promise<Finished> => plane.kubectl(binary, args, input);
	const apply = (labels: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Finished> =>
		run(service(name, labels), "apply", "--server-side", "-f", "-", ...flags);
	const get = async (path: string): Promise<string> =>
		(await run("", "get", "service", name, "--show-managed-fields", "-o", `jsonpath=${path}`)).stdout;
	const managers = (): Promise<string> => get("{range .metadata.managedFields[*]}{.manager}={.operation} {end}");

	test.skipIf(missing !== undefined)("creates, conflicts, forces and gives up", async () => {
		expect(await apply({ team: "a" })).toMatchObject({ status: 0, stdout: `service/${name} serverside-applied\n` });
		const version = await get("{.metadata.resourceVersion}");
		await apply({ team: "a" });
		expect(await get("{.metadata.resourceVersion}")).toBe(version);
		const refused = await apply({ team: "b" }, "--field-manager=other");
		expect([refused.status, refused.stderr]).toEqual([
			1,
			expect.stringContaining('Apply failed with 1 conflict: conflict with "kubectl": .metadata.labels.team'),
		]);
		expect(await apply({ team: "b" }, "--field-manager=other", "--force-conflicts")).toMatchObject({ status: 0 });
		expect(await managers()).toBe("kubectl=Apply other=Apply ");
		await apply({}, "--field-manager=other");
		expect(await get("{.metadata.labels}")).toBe("");
		expect(await run(service(name, { team: "c" }), "diff", "--server-side", "-f", "-")).toMatchObject({ status: 1 });
		await run("", "delete", "service", name);
	});

	test.skipIf(missing !== undefined)("takes over a custom object that was applied on the client's side", async () => {
		const thing = (size: number): string =>
			JSON.stringify({ apiVersion: "t8.io/v1", kind: "Thing", metadata: { name }, spec: { size } });
		await run(DEFINITION, "apply", "-f", "-");
		await run("", "wait", "--for=condition=established", "crd", "things.t8.io", "--timeout=20s");
		await run(thing(1), "apply", "-f", "-");
		expect(await run(thing(2), "apply", "--server-side", "-f", "-")).toMatchObject({ status: 0, stderr: "" });
		const path = "jsonpath={.spec.size} {range .metadata.managedFields[*]}{.manager}={.operation} {end}";
		const { stdout } = await run("", "get", "thing", name, "--show-managed-fields", "-o", path);
		expect(stdout).toMatch(/^2 .*kubectl=Apply /);
		expect(stdout).not.toContain("kubectl-client-side-apply");
		await run("", "delete", "thing", name);
	});

	test.skipIf(missing !== undefined)("takes over what was applied on the client's side", async () => {
		await run(service(name, { team: "a", old: "x" }), "apply", "-f", "-");
		expect(await managers()).toBe("kubectl-client-side-apply=Update ");
		expect(await apply({ team: "b" })).toMatchObject({ status: 0, stderr: "" });
		expect(await managers()).toContain("kubectl=Apply");
		expect(await managers()).not.toContain("kubectl-client-side-apply");
		expect(await get("{.metadata.labels}")).toBe('{"team":"b"}');
		await run("", "delete", "service", name);
	});
});

test("the JavaScript client applies as two managers", async () => {
	const config = new KubeConfig();
	config.loadFromFile(plane.kubeconfig);
	const core = config.makeApiClient(CoreV1Api);
	const apply = (fieldManager: string, data: Readonly<Record<string, string>>, force = false) => {
		const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "js" }, data };
		const where = { namespace: "default", name: "js", body, fieldManager, force };
		return core.patchNamespacedConfigMap(where, setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply));
	};
	expect((await apply("m1", { a: "1", b: "1" })).data).toEqual({ a: "1", b: "1" });
	await expect(apply("m2", { a: "2" })).rejects.toMatchObject({
		code: 409,
		body: expect.stringContaining("FieldManagerConflict"),
	});
	expect((await apply("m2", { a: "2" }, true)).data).toEqual({ a: "2", b: "1" });
	expect((await apply("m1", {})).data).toEqual({ a: "2" });
	const { metadata } = await core.readNamespacedConfigMap({ namespace: "default", name: "js" });
	expect(metadata?.managedFields?.map(({ manager }) => manager)).toEqual(["m1", "m2"]);
});
