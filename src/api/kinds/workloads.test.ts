import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { Deployment, ReplicaSet } from "../types/apps.ts";
import { DEPLOYMENT } from "./deployment.ts";
import { REPLICA_SET } from "./replica-set.ts";

type Spec = Deployment["spec"];

const TEMPLATE = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const SPEC: Spec = { selector: { matchLabels: { app: "web" } }, template: TEMPLATE };

function deployment(spec: Partial<Spec>): Deployment {
	const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: metadataOf("web"), spec: { ...SPEC, ...spec } };
	return DEPLOYMENT.withDefaults(object) as Deployment;
}

describe("Deployment", () => {
	test("has defaults that describe and rollout read", () => {
		expect(deployment({}).spec).toMatchObject({
			replicas: 1,
			strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
			revisionHistoryLimit: 10,
			progressDeadlineSeconds: 600,
			template: { spec: { restartPolicy: "Always", dnsPolicy: "ClusterFirst" } },
		});
		expect(deployment({ replicas: 0, strategy: { type: "Recreate" } }).spec).toMatchObject({
			replicas: 0,
			strategy: { type: "Recreate" },
		});
	});

	test("an object without a spec is invalid, not a crash", () => {
		const bare = { apiVersion: "apps/v1", kind: "Deployment", metadata: metadataOf("web") };
		expect(errorTexts(DEPLOYMENT.validate(DEPLOYMENT.withDefaults(bare)))).toEqual([
			"spec.selector: Required value",
			"spec.template.spec.containers: Required value",
		]);
	});

	test.each<{ rule: string; spec: Partial<Spec>; errors: readonly string[] }>([
		{ rule: "a good one", spec: {}, errors: [] },
		{
			rule: "replicas",
			spec: { replicas: -1 },
			errors: ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
		},
		{
			rule: "a selector that selects something",
			spec: { selector: {} },
			errors: ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
		},
		{
			rule: "a selector that selects the template",
			spec: { selector: { matchLabels: { app: "api" } } },
			errors: [
				'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
			],
		},
		{
			rule: "pods that are restarted",
			spec: { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: "Never" } } },
			errors: ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
		},
		{
			rule: "a strategy that can move",
			spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } },
			errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
		},
		{
			rule: "a deadline after readiness",
			spec: { minReadySeconds: 600 },
			errors: ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
		},
	])("$rule", ({ spec, errors }) => {
		expect(errorTexts(DEPLOYMENT.validate(deployment(spec)))).toEqual(errors);
	});

	test("the selector stays", () => {
		const labels = { app: "web", tier: "a" };
		const next = deployment({ selector: { matchLabels: labels }, template: { ...TEMPLATE, metadata: { labels } } });
		expect(errorTexts(DEPLOYMENT.validateUpdate(next, deployment({})))).toEqual([
			'spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"a"}}: field is immutable',
		]);
	});

	test("a status update changes neither spec nor labels", () => {
		const next = { ...deployment({ replicas: 9 }), metadata: metadataOf("web", { labels: { a: "b" } }) };
		const made = DEPLOYMENT.prepareStatusUpdate?.({ ...next, status: { replicas: 1 } } as Deployment, deployment({}));
		expect(made).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 1 } });
		expect(made?.metadata.labels).toBeUndefined();
	});
});

test("ReplicaSet defaults to one replica and always has a count in its status", () => {
	const object = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: metadataOf("web"), spec: SPEC };
	const made = REPLICA_SET.withDefaults(object) as ReplicaSet;
	expect(made).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 0 } });
	expect(REPLICA_SET.validate(made)).toEqual([]);
	expect(errorTexts(REPLICA_SET.validate({ ...made, spec: { ...made.spec, selector: {} } } as ReplicaSet))).toEqual([
		"spec.selector: Invalid value: {}: empty selector is invalid for deployment",
	]);
});
