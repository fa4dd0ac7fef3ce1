/** The thread, with an unmodified kubectl of several versions: apply, pods, slices, get, describe, scale, delete. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { eventually, type Finished, RunningPlane } from "./plane.ts";

const MANIFEST = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: c, image: nginx, ports: [{name: http, containerPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
`;

const versions = await kubectlVersions();

describe.each(versions)("$name", ({ path, missing }) => {
	let plane: RunningPlane;
	const kubectl = (...args: string[]): Promise<Finished> => plane.kubectl(path, args);
	const stdout = async (...args: string[]): Promise<string> => (await kubectl(...args)).stdout.trim();
	const sizes = async (service: string): Promise<string> => {
		const json = await stdout("get", "endpointslices", "-l", `kubernetes.io/service-name=${service}`, "-o", "json");
		const { items } = JSON.parse(json) as { items: { endpoints: { conditions: { ready: boolean } }[] | null }[] };
		const ready = items.map(({ endpoints }) => (endpoints ?? []).filter(({ conditions }) => conditions.ready).length);
		return ready.sort((a, b) => b - a).join(" ");
	};

	beforeAll(async () => {
		if (missing === undefined) plane = await RunningPlane.start();
	});
	afterAll(async () => {
		await plane?.stop();
	});

	test.skipIf(missing !== undefined)("applies a Deployment and a Service, and sees the slice fill", async () => {
		const applied = await plane.kubectl(path, ["apply", "-f", "-"], MANIFEST);
		expect(applied).toMatchObject({ status: 0, stdout: "deployment.apps/web created\nservice/web created\n" });
		await eventually(
			() => sizes("web"),
			(found) => found === "3",
		);
		const again = await plane.kubectl(path, ["apply", "-f", "-"], MANIFEST);
		expect(again).toMatchObject({ status: 0, stdout: "deployment.apps/web unchanged\nservice/web unchanged\n" });
	});

	test.skipIf(missing !== undefined)("prints tables as a real server computes them", async () => {
		expect(await stdout("get", "pods", "-l", "app=web")).toMatch(
			/^NAME +READY +STATUS +RESTARTS +AGE\nweb-\w+-\w{5} +1\/1 +Running +0 /,
		);
		expect(await stdout("get", "svc", "web", "-o", "wide")).toMatch(
			/ClusterIP +10\.96\.\d+\.\d+ +<none> +80\/TCP +\d+s +app=web$/,
		);
		expect(await stdout("get", "endpointslices")).toMatch(
			/IPv4 +8080 +10\.244\.\d+\.\d+,10\.244\.\d+\.\d+,10\.244\.\d+\.\d+/,
		);
		expect(await stdout("get", "deploy,rs", "-A", "--no-headers")).toMatch(
			/^default +deployment\.apps\/web +3\/3 +3 +3 /,
		);
		const ready = await stdout("get", "nodes", "--no-headers");
		expect(ready.split("\n")).toHaveLength(3);
	});

	test.skipIf(missing !== undefined)("describes the Service with its endpoints", async () => {
		const described = await stdout("describe", "service", "web");
		expect(described).toMatch(/Selector: +app=web/);
		expect(described).toMatch(/TargetPort: +http\/TCP/);
		expect(described).toMatch(/Endpoints: +10\.244\.\d+\.\d+:8080,10\.244\.\d+\.\d+:8080,10\.244\.\d+\.\d+:8080/);
	});

	test.skipIf(missing !== undefined)("explains fields from the served OpenAPI", async () => {
		const explained = await kubectl("explain", "service.spec.ports");
		expect(explained).toMatchObject({ status: 0 });
		expect(explained.stdout).toMatch(/targetPort/);
	});

	test.skipIf(missing !== undefined)(
		"creates by protobuf bodies, patches, labels, annotates and edits by kubectl's own commands",
		async () => {
			expect(await stdout("create", "namespace", "other")).toBe("namespace/other created");
			expect(await stdout("create", "service", "clusterip", "made", "--tcp=80:8080", "-n", "other")).toBe(
				"service/made created",
			);
			expect(await stdout("patch", "svc", "made", "-n", "other", "-p", '{"spec":{"selector":{"app":"x"}}}')).toBe(
				"service/made patched",
			);
			expect(
				await stdout(
					"patch",
					"svc",
					"made",
					"-n",
					"other",
					"--type=json",
					"-p",
					'[{"op":"remove","path":"/spec/selector"}]',
				),
			).toBe("service/made patched");
			expect(await stdout("label", "svc", "made", "a=b", "-n", "other")).toBe("service/made labeled");
			expect(await stdout("annotate", "svc", "made", "c=d", "-n", "other")).toBe("service/made annotated");
			expect(
				await stdout(
					"get",
					"svc",
					"made",
					"-n",
					"other",
					"-o",
					"jsonpath={.metadata.labels.a}{.metadata.annotations.c}",
				),
			).toBe("bd");
		},
	);

	test.skipIf(missing !== undefined)("scales to 205, and a Service made then gets exactly 100, 100 and 5", async () => {
		expect(await stdout("scale", "deployment/web", "--replicas=205")).toBe("deployment.apps/web scaled");
		expect(await stdout("rollout", "status", "deployment/web", "--timeout=60s")).toContain("successfully rolled out");
		expect(await stdout("expose", "deployment", "web", "--name=late", "--port=80")).toBe("service/late exposed");
		await eventually(
			() => sizes("late"),
			(found) => found === "100 100 5",
		);
	});

	test.skipIf(missing !== undefined)("deletes a pod gracefully, and waits for it", async () => {
		const victim = await stdout("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}");
		const deleted = await kubectl("delete", "pod", victim, "--timeout=30s");
		expect(deleted.stdout).toContain(`pod "${victim}" deleted`);
		expect((await kubectl("get", "pod", victim)).stderr).toContain(
			`Error from server (NotFound): pods "${victim}" not found`,
		);
	});

	test.skipIf(missing !== undefined)("waits for conditions and for deletion", async () => {
		expect(await stdout("wait", "deployment/web", "--for=condition=Available", "--timeout=30s")).toBe(
			"deployment.apps/web condition met",
		);
		const gone = await kubectl("delete", "deployment", "web", "--cascade=foreground", "--timeout=60s");
		expect(gone.status).toBe(0);
		expect(await stdout("get", "rs,pods", "-o", "name")).toBe("");
	});

	test.skipIf(missing !== undefined)("says what is wrong in a real server's words", async () => {
		const bad = await plane.kubectl(path, ["apply", "-f", "-"], MANIFEST.replace("port: 80,", "port: 70000,"));
		expect(bad.stderr).toContain(
			'The Service "web" is invalid: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive',
		);
		expect((await kubectl("get", "nosuch")).stderr).toContain(
			`error: the server doesn't have a resource type "nosuch"`,
		);
	});

	test.skipIf(missing !== undefined)("deletes a namespace with what is in it", async () => {
		expect((await kubectl("delete", "namespace", "other", "--timeout=60s")).status).toBe(0);
		expect(await stdout("get", "svc", "-A", "-o", "jsonpath={.items[*].metadata.namespace}")).not.toContain("other");
	});
});
