import { describe, expect, test } from "vitest";
import type { FieldError } from "../field-error.ts";
import type { Container, PodSpec } from "../types/core.ts";
import { validatePodSpec, validatePodTemplate } from "./pod-template-validation.ts";

function texts(errors: readonly FieldError[]): readonly string[] {
	return errors.map(({ field, body }) => `${field}: ${body}`);
}

function specWith(container: Partial<Container>, spec: Partial<PodSpec> = {}): PodSpec {
	const containers = [{ name: "c", image: "c:1", imagePullPolicy: "Always", ...container }];
	return { restartPolicy: "Always", dnsPolicy: "Default", containers, ...spec };
}

const C = "spec.containers[0]";

describe("a container", () => {
	test.each<[string, Partial<Container>, readonly string[]]>([
		["has names for variables", { env: [{ name: "" }] }, [`${C}.env[0].name: Required value`]],
		[
			"mounts what the Pod has",
			{ volumeMounts: [{ name: "none" }] },
			[`${C}.volumeMounts[0].name: Not found: "none"`, `${C}.volumeMounts[0].mountPath: Required value`],
		],
		[
			"mounts one thing in one place",
			{ volumeMounts: ["a", "b"].map((name) => ({ name, mountPath: "/x" })) },
			[`${C}.volumeMounts[1].mountPath: Invalid value: "/x": must be unique`],
		],
		[
			"asks for no more than its limit",
			{ resources: { requests: { cpu: "1500m" }, limits: { cpu: "1" } } },
			[`${C}.resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1`],
		],
		[
			"asks for no less than nothing",
			{ resources: { requests: { cpu: "-1" } } },
			[`${C}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`],
		],
		["is probed somehow", { startupProbe: {} }, [`${C}.startupProbe: Required value: must specify a handler type`]],
		["is probed by a command", { livenessProbe: { exec: {} } }, [`${C}.livenessProbe.exec.command: Required value`]],
		[
			"is probed by a port",
			{ readinessProbe: { grpc: {} } },
			[`${C}.readinessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive`],
		],
		[
			"is probed in one way",
			{ readinessProbe: { exec: { command: ["x"] }, tcpSocket: { port: 1 } } },
			[`${C}.readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
		],
		[
			"is alive at once",
			{ livenessProbe: { tcpSocket: { port: "http" }, successThreshold: 2, periodSeconds: -1 } },
			[
				`${C}.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`,
				`${C}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
			],
		],
		["is ready as often as it likes", { readinessProbe: { httpGet: { port: 80 }, successThreshold: 2 } }, []],
	])("%s", (_, container, errors) => {
		const volumes = [{ name: "a" }, { name: "b" }];
		expect(texts(validatePodSpec("spec", specWith(container, { volumes })))).toEqual(errors);
	});
});

test("volumes have names, each once", () => {
	const spec = specWith({}, { volumes: [{ name: "a" }, {}, { name: "a" }] });
	expect(texts(validatePodSpec("spec", spec))).toEqual([
		"spec.volumes[1].name: Required value",
		'spec.volumes[2].name: Duplicate value: "a"',
	]);
});

test("a claim of a StatefulSet can be mounted", () => {
	const spec = specWith({ volumeMounts: [{ name: "data", mountPath: "/x" }] });
	expect(texts(validatePodTemplate("t", { spec }, ["data"]))).toEqual([]);
	expect(texts(validatePodTemplate("t", { spec }))).toHaveLength(1);
});
