/** What users do with nodes, namespaces and Deployments. */
import { DEPLOYMENTS, NAMESPACES, NODES, PODS } from "../../api/resource-names.ts";
import { ZONE_LABEL } from "../../api/well-known.ts";
import { deploymentDraft } from "../workloads.ts";
import { finishPod } from "./pod-changes.ts";
import { USER_NAMESPACES, type User } from "./user.ts";

const NODE_NAMES = ["n1", "n2", "n3", "n4"];
const ZONES = ["za", "zb", "zc", null];

export async function changeNode(user: User): Promise<void> {
	const { dice } = user;
	const node = user.find(NODES, dice.of(NODE_NAMES));
	if (node === undefined) await createNode(user, dice.of(NODE_NAMES));
	else if (dice.chance(0.25)) await user.delete(NODES, node);
	else await user.patch(NODES, node, { metadata: { labels: { [ZONE_LABEL]: dice.of(ZONES) } } });
}

export async function createNode(user: User, name: string): Promise<void> {
	const zone = user.dice.of(ZONES);
	const labels = zone === null ? {} : { [ZONE_LABEL]: zone };
	await user.tries(`user create nodes ${name}`, () =>
		user.client.create(NODES, "", { metadata: { name, labels }, status: {} }),
	);
}

/** A Pod whose node is not there makes the sync of its Services fail again and again, as in upstream. */
export async function completeNodes(user: User): Promise<void> {
	for (const name of NODE_NAMES) if (user.find(NODES, name) === undefined) await createNode(user, name);
}

/** Deletes one, with everything in it, or makes it again. */
export async function changeNamespace(user: User): Promise<void> {
	const name = user.dice.of(USER_NAMESPACES.filter((each) => each !== "default"));
	const namespace = user.find(NAMESPACES, name);
	if (namespace === undefined) await createNamespace(user, name);
	else if (namespace.metadata.deletionTimestamp === undefined && user.dice.chance(0.5)) {
		await user.delete(NAMESPACES, namespace);
	} else await finishPods(user);
}

export async function createNamespace(user: User, name: string): Promise<void> {
	await user.tries(`user create namespaces ${name}`, () => user.client.create(NAMESPACES, "", { metadata: { name } }));
}

/** Nodes stop the Pods of namespaces that are being deleted. */
export async function finishPods(user: User): Promise<void> {
	for (const pod of user.all(PODS)) {
		const namespace = user.find(NAMESPACES, pod.metadata.namespace ?? "");
		const isDoomed = namespace === undefined || namespace.metadata.deletionTimestamp !== undefined;
		if (isDoomed && pod.metadata.deletionTimestamp !== undefined) await finishPod(user, pod);
	}
}

export async function changeDeployment(user: User): Promise<void> {
	const { dice } = user;
	const deployment = user.any(DEPLOYMENTS);
	if (deployment === undefined || dice.chance(0.2)) return createDeployment(user);
	const roll = dice.below(10);
	if (roll < 2) {
		await user.delete(DEPLOYMENTS, deployment, {
			propagationPolicy: dice.of(["Background", "Foreground", "Orphan"]),
		});
	} else if (roll < 4) {
		const containers = [{ name: "c", image: dice.of(["app:1", "app:2"]) }];
		await user.patch(DEPLOYMENTS, deployment, { spec: { template: { spec: { containers } } } });
	} else if (roll < 5) {
		await user.patch(DEPLOYMENTS, deployment, { metadata: { annotations: { note: String(dice.below(5)) } } });
	} else await user.patch(DEPLOYMENTS, deployment, { spec: { replicas: dice.below(5) } });
}

async function createDeployment(user: User): Promise<void> {
	const name = user.dice.of(["web", "api"]);
	const namespace = user.namespace();
	const { spec, ...others } = deploymentDraft(name, {
		replicas: 1 + user.dice.below(4),
		progressDeadlineSeconds: 30,
		minReadySeconds: 0,
	});
	const template = { ...spec.template, spec: { ...spec.template.spec, nodeName: user.dice.of(NODE_NAMES) } };
	const draft = { ...others, spec: { ...spec, template } };
	await user.tries(`user create deployments ${namespace}/${name}`, () =>
		user.client.create(DEPLOYMENTS, namespace, draft),
	);
}
