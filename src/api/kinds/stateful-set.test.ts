import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import { scaleOf, withScale } from "../scale.ts";
import type { StatefulSet, StatefulSetStatus } from "../types/apps.ts";
import { STATEFUL_SET } from "./stateful-set.ts";

type Spec = StatefulSet["spec"];

const TEMPLATE = { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "db", image: "db:1" }] } };
const SPEC: Spec = { selector: { matchLabels: { app: "db" } }, template: TEMPLATE, serviceName: "db" };

function statefulSet(spec: Partial<Spec>, status?: StatefulSetStatus): StatefulSet {
	const object = {
		apiVersion: "apps/v1",
		kind: "StatefulSet",
		metadata: metadataOf("db"),
		spec: { ...SPEC, ...spec },
		...(status === undefined ? {} : { status }),
	};
	return STATEFUL_SET.withDefaults(object) as StatefulSet;
}

describe("StatefulSet", () => {
	test("has the defaults that controllers and kubectl read", () => {
		expect(statefulSet({ volumeClaimTemplates: [{ metadata: { name: "data" } }] })).toMatchObject({
			spec: {
				replicas: 1,
				podManagementPolicy: "OrderedReady",
				updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
				revisionHistoryLimit: 10,
				persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
				volumeClaimTemplates: [{ kind: "PersistentVolumeClaim", spec: { volumeMode: "Filesystem" } }],
			},
			status: { replicas: 0, availableReplicas: 0 },
		});
		expect(statefulSet({ updateStrategy: { type: "OnDelete" } }).spec.updateStrategy).toEqual({ type: "OnDelete" });
	});

	test.each<{ rule: string; spec: Partial<Spec>; errors: readonly string[] }>([
		{ rule: "a good one", spec: {}, errors: [] },
		{
			rule: "a policy that there is",
			spec: { podManagementPolicy: "Any" as "Parallel" },
			errors: [`spec.podManagementPolicy: Invalid value: "Any": must be 'OrderedReady' or 'Parallel'`],
		},
		{
			rule: "no partition without rolling",
			spec: { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } },
			errors: [
				`spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: only allowed for updateStrategy 'RollingUpdate'`,
			],
		},
		{
			rule: "counts from zero",
			spec: { replicas: -1, ordinals: { start: -2 }, updateStrategy: { rollingUpdate: { partition: -3 } } },
			errors: [
				"spec.updateStrategy.rollingUpdate.partition: Invalid value: -3: must be greater than or equal to 0",
				"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
				"spec.ordinals.start: Invalid value: -2: must be greater than or equal to 0",
			],
		},
		{
			rule: "a selector that selects something",
			spec: { selector: {} },
			errors: ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
		},
		{
			rule: "a selector that selects the template",
			spec: { selector: { matchLabels: { app: "x" } } },
			errors: [
				'spec.template.metadata.labels: Invalid value: {"app":"db"}: `selector` does not match template `labels`',
			],
		},
		{
			rule: "a retention that there is",
			spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Keep" } },
			errors: [
				'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Delete", "Retain"',
			],
		},
	])("$rule", ({ spec, errors }) => {
		expect(errorTexts(STATEFUL_SET.validate(statefulSet(spec)))).toEqual(errors);
	});

	test("size, template and strategy may change, names and selection may not", () => {
		const stored = statefulSet({});
		const changed = statefulSet({ replicas: 5, minReadySeconds: 3, ordinals: { start: 2 } });
		expect(STATEFUL_SET.validateUpdate(changed, stored)).toEqual([]);
		expect(errorTexts(STATEFUL_SET.validateUpdate(statefulSet({ serviceName: "other" }), stored))).toEqual([
			"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
				"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
		]);
	});

	test("its status counts no more than there are", () => {
		const next = statefulSet({}, { replicas: 1, readyReplicas: 2, availableReplicas: 0 });
		expect(errorTexts(STATEFUL_SET.validateStatusUpdate?.(next, next) ?? [])).toEqual([
			"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
		]);
	});

	test("has a Scale", () => {
		const set = statefulSet({ replicas: 3 }, { replicas: 2 });
		expect(scaleOf(set)).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 2, selector: "app=db" } });
		expect(withScale(set, { ...scaleOf(set), spec: { replicas: 1 } }).spec.replicas).toBe(1);
	});
});
