/** Workloads as a test states them, and as a server would have stored them. */
import { controllerOf } from "../api/resource.ts";
import type { Deployment, ReplicaSet } from "../api/types/apps.ts";
import type { Pod, PodTemplateSpec } from "../api/types/core.ts";
import type { Draft, ObjectMeta } from "../api/types/meta.ts";
import { BORN, meta } from "./builders.ts";

/** A template of application `web`; `image` tells one from another. */
export function template(image = "app:1", more: Partial<PodTemplateSpec["spec"]> = {}): PodTemplateSpec {
	return { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image }], ...more } };
}

/** Deployment `web` of 1 Pod, as stored. */
export function deployment(
	spec: Partial<Deployment["spec"]> = {},
	{ metadata = {}, status = {} }: { metadata?: Partial<ObjectMeta>; status?: Deployment["status"] } = {},
): Deployment {
	return {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: meta("web", { generation: 1, ...metadata }),
		spec: {
			replicas: 1,
			selector: { matchLabels: { app: "web" } },
			template: template(),
			strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
			revisionHistoryLimit: 10,
			progressDeadlineSeconds: 600,
			...spec,
		},
		...(status === undefined ? {} : { status }),
	};
}

/** What a client sends to make a Deployment of application `name`. */
export function deploymentDraft(name: string, spec: Partial<Deployment["spec"]> = {}): Draft<Deployment> {
	const labels = { app: name };
	return {
		metadata: { name },
		spec: { selector: { matchLabels: labels }, template: { ...template(), metadata: { labels } }, ...spec },
	};
}

/** A draft as it is stored, `seconds` after {@link BORN}. */
export function storedSet(draft: Draft<ReplicaSet>, seconds = 0): ReplicaSet {
	const { name = "", ...metadata } = draft.metadata;
	const creationTimestamp = new Date(Date.parse(BORN) + seconds * 1000).toISOString().replace(".000", "");
	return {
		apiVersion: "apps/v1",
		kind: "ReplicaSet",
		metadata: meta(name, { generation: 1, ...metadata, creationTimestamp }),
		spec: draft.spec,
		status: { replicas: 0, terminatingReplicas: 0, observedGeneration: 1 },
	};
}

/** Whether the Pod is one of the ReplicaSet's. */
export function isOf(set: ReplicaSet, pod: Pod): boolean {
	return controllerOf(pod)?.uid === set.metadata.uid;
}
