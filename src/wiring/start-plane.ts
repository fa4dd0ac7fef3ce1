/** The whole plane in one process: API, controllers, simulated nodes, traffic. */
import { setMaxListeners } from "node:events";
import { formatCIDR } from "../api/ip.ts";
import { cacheFolder } from "../edge/cache-folder.ts";
import { writeKubeconfig } from "../edge/kubeconfig-file.ts";
import { type PodNetwork, PodProber } from "../edge/pod-prober.ts";
import { ProcessRuntime } from "../edge/process-runtime.ts";
import { assertDefined } from "../kernel/assert.ts";
import { Fleet, type PodInside } from "../kubelet/fleet.ts";
import { nodeRange } from "../kubelet/node-pool.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import { asManager } from "../machinery/as-manager.ts";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { applyManifests } from "./apply-manifests.ts";
import { bootstrap } from "./bootstrap.ts";
import { bootstrapAccess } from "./bootstrap-access.ts";
import { checkOptions } from "./check-options.ts";
import { selectionHint } from "./controller-selection.ts";
import { type DataPlane, startDataPlane } from "./data-plane.ts";
import { type Lead, WITHOUT_ELECTION } from "./lead.ts";
import { networkRanges } from "./network-ranges.ts";
import { planeLead } from "./plane-lead.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "./plane-options.ts";
import { type PartClients, type PodAccess, type RunningApi, startApi } from "./start-api.ts";
import { madeControllers } from "./start-controllers.ts";
import type { Netns } from "./start-netns.ts";
import { explained, placeText, refuseSharedFile } from "./start-problems.ts";
import { type SystemPorts, systemPorts } from "./system-ports.ts";
import { VERSION } from "./version.ts";

/** A running plane. */
export interface Plane {
	/** `https://127.0.0.1:6443` */
	readonly url: string;
	/** Path of the kubeconfig that was written. */
	readonly kubeconfig: string;
	/** The way into the cluster for clients of this machine; undefined with `--network none`. */
	readonly gateway: PlaneGateway | undefined;
	/** Creates what the manifests say, or brings it in line. `file` names them in errors. */
	apply(file: string, text: string, progress: Progress): Promise<void>;
	/** Resolves with a sentence when another plane on the same etcd leads now, or has the same data folder. */
	readonly lost: Promise<string>;
	/** Stops every part; resolves when nothing of the plane runs any more. */
	stop(): Promise<void>;
}

/** A SOCKS5 and HTTP proxy, with the credentials of the plane's own user. */
export interface PlaneGateway {
	readonly host: string;
	readonly port: number;
	readonly user: string;
	readonly password: string;
}

export type Progress = (text: string) => void;

/** Answers under way may take so long when the plane stops. */
const STOP_GRACE_MS = 2_000;

/**
 * Starts a plane and resolves when every part of it is ready.
 *
 * @param asked What is left out has the default of the command line; see {@link PlaneOptions}.
 * @param progress Told what has come up, a sentence each.
 * @param signal Gives up when it aborts: a plane on etcd stands by while another one leads.
 * @throws {RangeError} When options cannot go together; the message names the flag.
 * @throws {Error} When the address is taken or is none of this machine's, and when the kubeconfig cannot be written or
 *     is that of a plane that runs; the message says what to do.
 * @example
 *     const plane = await startPlane({ listen: { host: "127.0.0.1", port: 0 }, nodes: 2 });
 *     // plane.kubeconfig is the path of a kubeconfig for kubectl, or any client.
 *     await plane.stop();
 */
export async function startPlane(
	asked: Partial<PlaneOptions> = {},
	progress: Progress = () => undefined,
	signal: AbortSignal = new AbortController().signal,
): Promise<Plane> {
	const options: PlaneOptions = { ...DEFAULT_PLANE_OPTIONS, cacheFolder: cacheFolder(), ...asked };
	checkOptions(options);
	await refuseSharedFile(options);
	const system = systemPorts(options.logLevel);
	const stopping = new AbortController();
	// Every sleep of every part listens to this one signal; Node warns of more than ten.
	setMaxListeners(0, stopping.signal);
	let isReady = false;
	let dataPlane: DataPlane | undefined;
	let netns: Netns | undefined;
	let lead: Lead = WITHOUT_ELECTION;
	const logs = new ContainerLogs(system.metrics);
	const pods = { logs, connect: dialing(() => dataPlane, stopping.signal) };
	const api = await startApi(
		options,
		networkRanges(options),
		system,
		() => (isReady ? undefined : "controllers"),
		pods,
	).catch(explained("--listen", options.listen));
	try {
		await writeKubeconfig(options.kubeconfig, { server: api.url, ca: api.ca, user: { token: api.token } });
		progress(`API at ${api.url}`);
		await Promise.all([bootstrap(api.client), bootstrapAccess(asManager(api.client, "kube-apiserver"))]);
		lead = await planeLead(api.client, options, system, progress, signal);
		if (options.network === "netns") netns = await startNetns(options, { ...system, ...api }, progress);
		const parts = startParts(
			{ ...api, ...api.partClients(lead.mayWrite) },
			options,
			logs,
			system,
			netns,
			stopping.signal,
		);
		const held = lead.hold(stopping.signal).then((why) => {
			stopping.abort();
			// Whoever stops a plane does not lose it.
			return why ?? new Promise<string>(() => undefined);
		});
		dataPlane = parts.dataPlane;
		await parts.informers.whenSynced(stopping.signal);
		await netns?.ready();
		isReady = true;
		progress(`${counted(options.nodes, "node")}, ${counted(parts.controllers, "controller")}`);
		const hint = selectionHint(options.controllers);
		if (hint !== undefined) progress(hint);
		const gateway = dataPlane === undefined ? undefined : await openedDoors(dataPlane, api, options, progress);
		return {
			url: api.url,
			kubeconfig: options.kubeconfig,
			gateway,
			lost: Promise.race([held, api.lost]),
			apply: (file, text, tell) => applyManifests(api.client, file, text, tell),
			async stop() {
				stopping.abort();
				const worked = Promise.all(parts.running).then(() => lead.release());
				// The Lease, and what parts are writing, is in the store, which is closed with the API.
				if (options.etcd !== undefined || options.dataFolder !== undefined) await worked;
				await Promise.all([worked, api.stop(STOP_GRACE_MS)]);
				await netns?.stop();
			},
		};
	} catch (error) {
		stopping.abort();
		// Whoever stands by need not wait for what did not start.
		await lead.release();
		await api.stop(0);
		await netns?.stop();
		throw error;
	}
}

/** @param dataPlane Undefined as long as it is not there. */
function dialing(dataPlane: () => DataPlane | undefined, signal: AbortSignal): PodAccess["connect"] {
	return async (ip, podPort) => {
		const found = dataPlane();
		if (found === undefined) throw new Error("nothing answers with --network none");
		return found.dial(ip, podPort, signal);
	};
}

/** Resolves when the gateway and DNS listen, where there are any. */
async function openedDoors(
	dataPlane: DataPlane,
	api: RunningApi,
	options: PlaneOptions,
	progress: Progress,
): Promise<PlaneGateway | undefined> {
	// In the nodes' networks `exec` is the way in.
	const gateway = options.network === "netns" ? undefined : await gatewayOf(dataPlane, api, options);
	if (gateway !== undefined) progress(`Gateway at ${placeText(gateway)}, user ${gateway.user}`);
	if (options.dnsListen === undefined) return gateway;
	const port = await dataPlane.dns.catch(explained("--dns-listen", options.dnsListen));
	progress(`DNS at ${placeText({ ...options.dnsListen, port })}, UDP and TCP`);
	return gateway;
}

const GATEWAY_USER = "sliceplane";

/** Rejects, with a sentence for people, when its address cannot be had. */
async function gatewayOf(
	dataPlane: DataPlane,
	{ token }: RunningApi,
	{ gatewayListen }: PlaneOptions,
): Promise<PlaneGateway> {
	const port = await dataPlane.gateway.catch(explained("--gateway-listen", gatewayListen));
	return { host: gatewayListen.host, port, user: GATEWAY_USER, password: token };
}

interface Parts {
	readonly informers: Informers;
	readonly dataPlane: DataPlane | undefined;
	/** How many controllers there are. */
	readonly controllers: number;
	/** Each resolves when its part has stopped; never rejects. */
	readonly running: readonly Promise<void>[];
}

/** Everything that works by the API; it works until `signal` aborts. */
function startParts(
	{ client, clientAs, tidy, port, ca, token }: RunningApi & PartClients,
	options: PlaneOptions,
	logs: ContainerLogs,
	system: SystemPorts,
	netns: Netns | undefined,
	signal: AbortSignal,
): Parts {
	const informers = new Informers({ client, ...system });
	const recorder = new EventRecorder({ client, ...system });
	const queues = new WorkQueues(system);
	const ports = { client, informers, queues, recorder, logs, ...system };
	let dataPlane: DataPlane | undefined;
	// The fleet begins when the data plane is there.
	const network: PodNetwork = {
		dial: (...asked) => assertDefined(dataPlane, "the data plane").dial(...asked),
		whenTold: (...asked) => assertDefined(dataPlane, "the data plane").whenTold(...asked),
	};
	const processes = options.runtime === "process" ? new ProcessRuntime(system.clock) : undefined;
	const fleetPorts = {
		...ports,
		...(options.network === "none" ? {} : { prober: new PodProber(network) }),
		...(processes === undefined ? {} : { runtime: processes }),
	};
	const fleet = new Fleet(fleetPorts, {
		...options,
		kubeletVersion: VERSION.api.gitVersion,
		...(netns === undefined ? {} : { nodeAnnotations: (name) => netns.annotationsOf(name) }),
	});
	// In the nodes' networks the API's stand-in leads to it, wherever it listens.
	const listen = { host: netns === undefined ? options.listen.host : "127.0.0.1", port };
	const api = { listen, serviceCIDRs: options.serviceCIDRs, isOneOfMany: options.etcd !== undefined };
	const controllers = madeControllers(ports, { ...options, api, rootCA: ca }, clientAs);
	const answered = (request: AnsweredRequest): void => fleet.answered(request);
	const dataPlaneOptions = {
		clusterCIDRs: simulatedRanges(options),
		serviceCIDRs: options.serviceCIDRs,
		asNode: options.asNode,
		logDecisions: options.logDecisions,
		podListeners: options.podListeners,
		...(options.trafficFaults === undefined ? {} : { faults: options.trafficFaults }),
		...(netns === undefined
			? { gateway: { ...options.gatewayListen, user: GATEWAY_USER, password: token, namespace: "default" } }
			: { nodePorts: false }),
		clusterDomain: options.clusterDomain,
		...(options.dnsListen === undefined ? {} : { dns: { ...options.dnsListen, upstreams: options.dnsUpstreams } }),
	};
	const inside = (podUID: string): PodInside | undefined => fleet.inside(podUID);
	dataPlane =
		options.network === "none"
			? undefined
			: startDataPlane({
					...ports,
					options: dataPlaneOptions,
					inside,
					answered,
					signal,
					...(netns === undefined
						? {}
						: { openAround: (user, openInner) => netns.openAround(user, openInner, informers, signal) }),
				});
	const running = [
		dataPlane?.stopped ?? Promise.resolve(),
		processes === undefined ? Promise.resolve() : stopped(processes, signal),
		recorder.run(signal),
		tidy(signal),
		...[...controllers, fleet].map((part) => part.run(signal)),
		informers.run(signal),
	].map((part) => part.catch((error: unknown) => system.log.error("A part stopped", { error })));
	return { informers, dataPlane, controllers: controllers.length, running };
}

/** Loaded only when it is wanted. */
async function startNetns(...asked: Parameters<typeof Netns.start>): Promise<Netns> {
	const loaded = await import("./start-netns.ts");
	return loaded.Netns.start(...asked);
}

async function stopped(processes: ProcessRuntime, signal: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
	await processes.stop(STOP_GRACE_MS);
}

/** Addresses that exist in memory only: no packet for them may reach a real network. */
function simulatedRanges(options: PlaneOptions): readonly string[] {
	const nodes = options.clusterCIDRs.map((text) =>
		formatCIDR(nodeRange(text.includes(":") ? "IPv6" : "IPv4", options)),
	);
	return [...options.clusterCIDRs, ...options.serviceCIDRs, ...nodes];
}

function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
