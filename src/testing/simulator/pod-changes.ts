/** What users do with Pods, and what the kubelets of the nodes say of them. */
import { PODS } from "../../api/resource-names.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Draft } from "../../api/types/meta.ts";
import { LABELS, placeOf, type User } from "./user.ts";

const NODE_NAMES = ["n1", "n2", "n3", "n4"];
/** Above this, Pods go rather than come. */
const PODS_MAX = 45;

export async function createPod(user: User): Promise<void> {
	const { dice } = user;
	if (user.all(PODS).length > PODS_MAX) return deletePod(user);
	const namespace = user.namespace();
	// A name of few comes back as another Pod.
	const name = dice.chance(0.3) ? `p${dice.below(6)}` : `q${dice.below(1000)}`;
	const draft: Draft<Pod> = {
		metadata: {
			name,
			labels: { app: dice.of(LABELS.app), ...(dice.chance(0.7) ? { tier: dice.of(LABELS.tier) } : {}) },
		},
		spec: {
			...(dice.chance(0.8) ? { nodeName: dice.of(NODE_NAMES) } : {}),
			...(dice.chance(0.2) ? { hostname: name, subdomain: dice.of(["web", "api"]) } : {}),
			containers: [
				{ name: "c", image: "app:1", ports: [{ name: "http", containerPort: dice.of([8080, 8080, 8081]) }] },
			],
		},
	};
	const pod = await user.tries(`user create pods ${namespace}/${name}`, () =>
		user.client.create(PODS, namespace, draft),
	);
	if (pod !== undefined && dice.chance(0.8)) await run(user, pod);
}

export async function deletePod(user: User): Promise<void> {
	const pod = user.any(PODS);
	if (pod === undefined) return createPod(user);
	await user.delete(PODS, pod, user.dice.chance(0.4) ? { gracePeriodSeconds: 0 } : {});
}

export async function relabelPod(user: User): Promise<void> {
	const pod = user.any(PODS);
	if (pod === undefined) return createPod(user);
	const labels = { app: user.dice.of([...LABELS.app, null]), tier: user.dice.of([...LABELS.tier, null]) };
	await user.patch(PODS, pod, { metadata: { labels } });
}

/** A kubelet has news of a Pod. */
export async function reportPod(user: User): Promise<void> {
	const { dice } = user;
	const pod = user.any(PODS);
	if (pod === undefined) return createPod(user);
	if (pod.metadata.deletionTimestamp !== undefined && dice.chance(0.5)) return finishPod(user, pod);
	if (pod.status?.podIP === undefined) return run(user, pod);
	const roll = dice.below(10);
	if (roll < 7) await report(user, pod, { conditions: [ready(user, dice.chance(0.6))] });
	else if (roll < 9 && isReady(pod)) {
		// A phase alone wakes no Service, as in upstream; a Pod that ends stops being ready, too.
		await report(user, pod, { phase: dice.of(["Failed", "Succeeded"]), conditions: [ready(user, false)] });
	} else await run(user, pod);
}

function isReady({ status }: Pod): boolean {
	return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** The node has stopped it. */
export function finishPod(user: User, pod: Pod): Promise<void> {
	return user.delete(PODS, pod, { gracePeriodSeconds: 0 });
}

function ready({ ports: { clock } }: User, isReady: boolean): object {
	const lastTransitionTime = new Date(clock.wallMs()).toISOString().replace(/\.\d+/, "");
	return { type: "Ready", status: isReady ? "True" : "False", lastTransitionTime };
}

/** A Pod that no node runs has no address. */
function run(user: User, pod: Pod): Promise<void> {
	const { dice } = user;
	if (pod.spec.nodeName === undefined) return report(user, pod, { phase: "Pending" });
	const host = dice.below(60_000);
	const v4 = `10.1.${host >>> 8}.${host & 255}`;
	const v6 = `fd00:1::${(host + 1).toString(16)}`;
	const ips = dice.of([[v4], [v4, v6], [v4, v6], [v6]]);
	const podIPs = ips.map((ip) => ({ ip }));
	return report(user, pod, { phase: "Running", podIP: ips[0], podIPs, conditions: [ready(user, dice.chance(0.8))] });
}

async function report(user: User, pod: Pod, status: object): Promise<void> {
	const { namespace, name } = placeOf(pod);
	const patch = { type: "merge", body: { status } } as const;
	await user.tries(`kubelet reports ${namespace}/${name} ${JSON.stringify(status)}`, () =>
		user.client.patch(PODS, { namespace, name }, patch, { subresource: "status" }),
	);
}
