import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { Pod, PodSpec } from "../types/core.ts";
import { POD } from "./pod.ts";

function pod(spec: Partial<PodSpec>, more: Partial<Pod> = {}): Pod {
	const containers = [{ name: "web", image: "web:1" }];
	return { apiVersion: "v1", kind: "Pod", metadata: metadataOf("web"), spec: { containers, ...spec }, ...more };
}

function defaulted(spec: Partial<PodSpec>, more: Partial<Pod> = {}): Pod {
	return POD.withDefaults(pod(spec, more)) as Pod;
}

const prepared = (spec: Partial<PodSpec>): Pod => POD.prepareCreate(defaulted(spec), { nowMs: 0 }) as Pod;

describe("defaults of a Pod", () => {
	test("fill in what readers count on", () => {
		expect(defaulted({}).spec).toEqual({
			containers: [
				{
					name: "web",
					image: "web:1",
					resources: {},
					terminationMessagePath: "/dev/termination-log",
					terminationMessagePolicy: "File",
					imagePullPolicy: "IfNotPresent",
				},
			],
			restartPolicy: "Always",
			terminationGracePeriodSeconds: 30,
			dnsPolicy: "ClusterFirst",
			securityContext: {},
			schedulerName: "default-scheduler",
			enableServiceLinks: true,
		});
	});

	test("are stable: defaulting again changes nothing", () => {
		const once = defaulted({ hostNetwork: true, volumes: [{ name: "a" }], serviceAccountName: "x" });
		expect(POD.withDefaults(once)).toEqual(once);
	});

	test.each([
		{ image: "web", policy: "Always" },
		{ image: "host:5000/web", policy: "Always" },
		{ image: "host:5000/web:latest", policy: "Always" },
		{ image: "host:5000/web:2", policy: "IfNotPresent" },
		{ image: "web@sha256:0", policy: "IfNotPresent" },
	])("image $image is pulled $policy", ({ image, policy }) => {
		expect(defaulted({ containers: [{ name: "a", image }] }).spec.containers[0]?.imagePullPolicy).toBe(policy);
	});

	test("a probe, a volume and a limit say the rest themselves", () => {
		const made = defaulted({
			hostNetwork: true,
			containers: [
				{
					name: "a",
					image: "a:1",
					ports: [{ containerPort: 80 }],
					resources: { limits: { cpu: "1" } },
					readinessProbe: { httpGet: { port: 80 } },
					livenessProbe: { grpc: { port: 1 }, timeoutSeconds: 5 },
					env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
				},
			],
			volumes: [
				{ name: "tmp" },
				{ name: "s", secret: { secretName: "x" } },
				{ name: "p", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
			],
		}).spec;
		expect(made.containers[0]).toMatchObject({
			ports: [{ containerPort: 80, hostPort: 80, protocol: "TCP" }],
			resources: { limits: { cpu: "1" }, requests: { cpu: "1" } },
			readinessProbe: {
				httpGet: { port: 80, path: "/", scheme: "HTTP" },
				timeoutSeconds: 1,
				periodSeconds: 10,
				successThreshold: 1,
				failureThreshold: 3,
			},
			livenessProbe: { grpc: { port: 1, service: "" }, timeoutSeconds: 5 },
			env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP", apiVersion: "v1" } } }],
		});
		expect(made.volumes).toEqual([
			{ name: "tmp", emptyDir: {} },
			{ name: "s", secret: { secretName: "x", defaultMode: 420 } },
			{
				name: "p",
				projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }], defaultMode: 420 },
			},
		]);
	});

	test("podIP and podIPs follow each other", () => {
		expect(defaulted({}, { status: { podIP: "10.0.0.1" } }).status?.podIPs).toEqual([{ ip: "10.0.0.1" }]);
		expect(defaulted({}, { status: { podIPs: [{ ip: "10.0.0.2" }] } }).status?.podIP).toBe("10.0.0.2");
	});
});

describe("a new Pod", () => {
	test("is Pending, tolerates a lost node for five minutes and has an account", () => {
		const made = prepared({});
		expect(made.status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
		expect(made.spec).toMatchObject({ serviceAccountName: "default", serviceAccount: "default", priority: 0 });
		expect(made.spec.tolerations).toEqual(
			["not-ready", "unreachable"].map((name) => ({
				key: `node.kubernetes.io/${name}`,
				operator: "Exists",
				effect: "NoExecute",
				tolerationSeconds: 300,
			})),
		);
	});

	test("with scheduling gates says that it waits", () => {
		expect(prepared({ schedulingGates: [{ name: "a/b" }] }).status?.conditions?.[0]).toMatchObject({
			type: "PodScheduled",
			status: "False",
			reason: "SchedulingGated",
		});
	});

	test.each([
		{ resources: {}, qos: "BestEffort" },
		{ resources: { requests: { cpu: "1" } }, qos: "Burstable" },
		{ resources: { limits: { cpu: "1" } }, qos: "Burstable" },
		{ resources: { limits: { cpu: "1", memory: "1Gi" } }, qos: "Guaranteed" },
		{ resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } }, qos: "Burstable" },
	])("$resources is $qos", ({ resources, qos }) => {
		expect(prepared({ containers: [{ name: "a", image: "a:1", resources }] }).status?.qosClass).toBe(qos);
	});
});

describe("validation of a Pod", () => {
	test.each<{ rule: string; spec: Partial<PodSpec>; errors: readonly (string | RegExp)[] }>([
		{ rule: "a good one", spec: {}, errors: [] },
		{ rule: "containers are required", spec: { containers: [] }, errors: ["spec.containers: Required value"] },
		{
			rule: "a container has a name of its own and an image",
			spec: { containers: [{ name: "a", image: "a" }], initContainers: [{ name: "a" }] },
			errors: ["spec.initContainers[0].image: Required value", 'spec.initContainers[0].name: Duplicate value: "a"'],
		},
		{
			rule: "a port has a number, a protocol and maybe a name",
			spec: {
				containers: [
					{
						name: "a",
						image: "a",
						ports: [
							{ containerPort: 0, name: "p" },
							{ containerPort: 1, name: "p", protocol: "X" as "TCP" },
						],
					},
				],
			},
			errors: [
				"spec.containers[0].ports[0].containerPort: Required value",
				'spec.containers[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
				'spec.containers[0].ports[1].name: Duplicate value: "p"',
			],
		},
		{
			rule: "words and names",
			spec: { restartPolicy: "Sometimes" as "Never", hostname: "a.b", nodeName: "N" },
			errors: [
				'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
				/^spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain/,
				'spec.hostname: Invalid value: "a.b": must not contain dots',
			],
		},
	])("$rule", ({ spec, errors }) => {
		const found = errorTexts(POD.validate(defaulted(spec)));
		expect(found).toEqual(errors.map((error) => (typeof error === "string" ? error : expect.stringMatching(error))));
	});

	test("of its spec an image may change, a toleration may come, a gate may go; nothing else", () => {
		const stored = prepared({ schedulingGates: [{ name: "a/b" }] });
		const update = (spec: Partial<PodSpec>): readonly string[] =>
			errorTexts(POD.validateUpdate(POD.prepareUpdate(defaulted({ ...stored.spec, ...spec }), stored), stored));
		expect(update({})).toEqual([]);
		expect(update({ containers: [{ name: "web", image: "web:2" }], schedulingGates: [], tolerations: [] })).toEqual([]);
		const fixed = update({ hostname: "a" });
		expect(fixed).toHaveLength(1);
		expect(fixed[0]).toMatch(
			/^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`,/,
		);
		expect(fixed[0]).toContain('+ hostname: "a"');
		expect(update({ containers: [] })).toContain(
			"spec.containers: Forbidden: pod updates may not add or remove containers",
		);
	});

	test("a status update changes neither spec nor owners, and one address of each family", () => {
		const stored = prepared({});
		const next = { ...pod({ nodeName: "n" }), status: { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] } };
		const made = POD.prepareStatusUpdate?.(next, stored) as Pod;
		expect(made.spec).toBe(stored.spec);
		expect(made.status?.qosClass).toBe("BestEffort");
		expect(errorTexts(POD.validateStatusUpdate?.(made, stored) ?? [])).toEqual([
			'status.podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family',
		]);
	});
});
