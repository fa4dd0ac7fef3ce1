/** What tests of a whole plane do and look at again and again. */
import type { Resource } from "../api/resource.ts";
import { DEPLOYMENTS, EVENTS, PODS } from "../api/resource-names.ts";
import type { Deployment } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import type { TestPlane } from "./test-plane.ts";
import type { LoggedEvent } from "./watch-log.ts";
import { deploymentDraft } from "./workloads.ts";

const NAMESPACE = "default";

/** Objects of namespace `default`, in the order of their names. */
export async function listed<T extends KubeObject>(plane: TestPlane, resource: Resource<T>): Promise<readonly T[]> {
	return (await plane.client.list(resource, { namespace: NAMESPACE })).items;
}

export function deploy(plane: TestPlane, name: string, spec: Partial<Deployment["spec"]>): Promise<Deployment> {
	return plane.client.create(DEPLOYMENTS, NAMESPACE, deploymentDraft(name, spec));
}

/** A Pod of one container, with what else is given. */
export function createPod(
	plane: TestPlane,
	name: string,
	spec: Partial<Pod["spec"]> = {},
	metadata: Draft<Pod>["metadata"] = {},
): Promise<Pod> {
	const draft = { metadata: { name, ...metadata }, spec: { containers: [{ name: "c", image: "app:1" }], ...spec } };
	return plane.client.create(PODS, NAMESPACE, draft);
}

/** Merges `body` into the object, as a user's patch does. */
export function patched<T extends KubeObject>(
	plane: TestPlane,
	resource: Resource<T>,
	name: string,
	body: object,
): Promise<T> {
	return plane.client.patch(resource, { namespace: NAMESPACE, name }, { type: "merge", body });
}

/** Every Event that was recorded: `Normal SuccessfulCreate Created pod: web-1`, with `(x2)` when it was repeated. */
export async function eventTexts(plane: TestPlane, kind?: string): Promise<readonly string[]> {
	const events = (await listed(plane, EVENTS)).filter(
		({ involvedObject }) => kind === undefined || involvedObject.kind === kind,
	);
	return events.map(({ type, reason, message, count = 1 }) =>
		[type, reason, message, ...(count > 1 ? [`(x${count})`] : [])].join(" "),
	);
}

/** What a watcher of Pods saw: `+100 MODIFIED Running 10.244.0.2 Ready`. */
export function podEventText({ atMs, type, object: { metadata, status } }: LoggedEvent<Pod>): string {
	const isReady = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
	const words = [
		`+${atMs}`,
		type,
		status?.phase,
		status?.podIPs?.map(({ ip }) => ip).join(","),
		isReady ? "Ready" : undefined,
		metadata.deletionTimestamp === undefined ? undefined : `until ${metadata.deletionTimestamp.slice(14, 19)}`,
	];
	return words.filter((word) => word !== undefined).join(" ");
}
