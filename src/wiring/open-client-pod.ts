/** A client of its own in a cluster whose nodes are network namespaces: a Pod, and a namespace behind its node. */
import { rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { NODES, PODS, SERVICES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Node, Pod } from "../api/types/core.ts";
import type { StringMap } from "../api/types/meta.ts";
import { CryptoRandom } from "../edge/crypto-random.ts";
import { writeKubeconfig } from "../edge/kubeconfig-file.ts";
import { readKubeconfig } from "../edge/kubeconfig-reader.ts";
import { makeClientNamespace } from "../edge/netns/client-namespace.ts";
import { isOwnName, makePrivateFolder, namespaceExists, processMark } from "../edge/netns/namespace-names.ts";
import { removeAbandoned } from "../edge/netns/plane-namespaces.ts";
import { SystemClock } from "../edge/system-clock.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { CLUSTER_DOMAIN_ANNOTATION, clientPod, NETWORK_NAMESPACE_ANNOTATION, resolvConf } from "../plan/client-pod.ts";
import { DNS_SERVICE } from "../plan/dns-service.ts";
import { type ClusterChoice, clusterClient } from "./cluster-client.ts";

export interface ClientPodChoice extends ClusterChoice {
	/** undefined: the first that is a network namespace. */
	readonly node?: string | undefined;
	/** Of the Pod. */
	readonly namespace: string;
	readonly labels: StringMap;
}

export interface ClientPod {
	/** The network namespace. */
	readonly name: string;
	/** By which the API is reached from there. */
	readonly kubeconfig: string;
	/** What its /etc/resolv.conf says, as a file. */
	readonly resolvConf: string;
	/** Resolves when nothing of it is left. */
	remove(): Promise<void>;
}

const ADDRESS_MS_MAX = 15_000;
const ADDRESS_RETRY_MS = 20;
/** Where the API is for Pods. */
const API_URL = "https://kubernetes.default.svc";

/** Rejects with a sentence for people; nothing is left then. */
export async function openClientPod(choice: ClientPodChoice): Promise<ClientPod> {
	await removeAbandoned();
	const undo: (() => Promise<unknown>)[] = [];
	const remove = async (): Promise<void> => {
		for (const each of undo.splice(0).reverse()) await each();
	};
	try {
		const client = await clusterClient(choice);
		undo.push(async () => client.close());
		const site = siteOf(await nodeFor(client, choice.node));
		const pod = await makePod(client, site.node, choice, undo);
		const addresses = (pod.status?.podIPs ?? [{ ip: pod.status?.podIP ?? "" }]).map(({ ip }) => ip);
		const { name, remove: removeNamespace } = await makeClientNamespace({ node: site.namespace, addresses });
		undo.push(removeNamespace);
		const folder = await makePrivateFolder();
		undo.push(() => rm(folder, { recursive: true, force: true }));
		const kubeconfig = await makeKubeconfig(folder, choice);
		const { spec } = await client.get(SERVICES, DNS_SERVICE);
		const resolver = path.join(folder, "resolv.conf");
		await writeFile(resolver, resolvConf(spec.clusterIP ?? "", choice.namespace, site.clusterDomain));
		return { name, kubeconfig, resolvConf: resolver, remove };
	} catch (error) {
		await remove();
		throw error;
	}
}

interface Site {
	readonly node: string;
	readonly namespace: string;
	readonly clusterDomain: string;
}

function siteOf({ metadata: { name: node, annotations = {} } }: Node): Site {
	const namespace = annotations[NETWORK_NAMESPACE_ANNOTATION];
	if (namespace === undefined || !isOwnName(namespace)) {
		throw new Error(`node ${node} is no network namespace: exec wants a plane that was started with --network netns`);
	}
	if (!namespaceExists(namespace)) {
		throw new Error(`node ${node} is the network namespace ${namespace}, which is not on this machine`);
	}
	return { node, namespace, clusterDomain: annotations[CLUSTER_DOMAIN_ANNOTATION] ?? "cluster.local" };
}

async function nodeFor(client: ApiClient, name: string | undefined): Promise<Node> {
	const { items } = await client.list(NODES, {});
	const isNamespace = ({ metadata }: Node): boolean =>
		metadata.annotations?.[NETWORK_NAMESPACE_ANNOTATION] !== undefined;
	// Any node says better than none what is wrong.
	const found =
		name === undefined ? (items.find(isNamespace) ?? items[0]) : items.find(({ metadata }) => metadata.name === name);
	if (found !== undefined) return found;
	const names = items.map(({ metadata }) => metadata.name);
	if (names.length === 0) throw new Error("the cluster has no nodes: exec wants one to put its Pod behind");
	throw new Error(`no node ${name}; there are ${names.length}: ${names.slice(0, 10).join(", ")}`);
}

async function makePod(
	client: ApiClient,
	nodeName: string,
	{ namespace, labels }: ClientPodChoice,
	undo: (() => Promise<unknown>)[],
): Promise<Pod> {
	const name = `exec-${new CryptoRandom().uid().slice(0, 8)}`;
	const made = await client.create(PODS, namespace, clientPod({ name, nodeName, labels, process: processMark() }));
	const key = { namespace, name };
	undo.push(() =>
		client
			.delete(PODS, key, { gracePeriodSeconds: 0, preconditions: { uid: made.metadata.uid } })
			// The plane may be gone, and with it the Pod.
			.catch(() => undefined),
	);
	const clock = new SystemClock();
	const untilMs = clock.monotonicMs() + ADDRESS_MS_MAX;
	for (;;) {
		const pod = await client.get(PODS, key).catch((error: unknown) => {
			if (hasReason(error, "NotFound")) throw new Error(`pod ${name} was deleted before it had an address`);
			throw error;
		});
		if ((pod.status?.podIP ?? "") !== "") return pod;
		if (clock.monotonicMs() > untilMs) {
			throw new Error(`pod ${name} has no address after ${ADDRESS_MS_MAX / 1_000} s: kubectl describe pod says why`);
		}
		await clock.sleep(ADDRESS_RETRY_MS);
	}
}

async function makeKubeconfig(folder: string, choice: ClusterChoice): Promise<string> {
	const { kubeconfig, ...more } = choice;
	const access = await readKubeconfig({
		file: kubeconfig,
		...more,
		defaultFile: path.join(homedir(), ".kube", "config"),
	});
	const file = path.join(folder, "kubeconfig");
	const token = (await access.token?.()) ?? "";
	await writeKubeconfig(file, { server: API_URL, ca: access.ca ?? "", user: { token } });
	return file;
}
