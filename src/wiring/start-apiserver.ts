/** The API server in a process of its own: what `up` has of it, and nothing that works by it. */
import { setMaxListeners } from "node:events";
import { writeKubeconfig } from "../edge/kubeconfig-file.ts";
import { asManager } from "../machinery/as-manager.ts";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { bootstrap } from "./bootstrap.ts";
import { bootstrapAccess } from "./bootstrap-access.ts";
import { serviceRanges } from "./network-ranges.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "./plane-options.ts";
import { startApi } from "./start-api.ts";
import { madeControllers } from "./start-controllers.ts";
import type { Progress } from "./start-plane.ts";
import { explained, refuseSharedFile } from "./start-problems.ts";
import { systemPorts } from "./system-ports.ts";

export type ApiserverOptions = Pick<
	PlaneOptions,
	| "listen"
	| "kubeconfig"
	| "cacheFolder"
	| "dataFolder"
	| "etcd"
	| "tokenAuthFile"
	| "serviceCIDRs"
	| "nodePortRange"
	| "requestsInFlight"
	| "clientRequestsPerSecond"
	| "clusterDomain"
	| "logLevel"
>;

export interface RunningApiserver {
	readonly url: string;
	/** Resolves with a sentence when another process has its data folder. */
	readonly lost: Promise<string>;
	/** Answers under way are finished. */
	stop(): Promise<void>;
}

/** Answers under way may take so long at the end. */
const STOP_GRACE_MS = 2_000;

/** Rejects with a sentence that says what to do, as `startPlane`. @throws {RangeError} For ranges that cannot be. */
export async function startApiserver(options: ApiserverOptions, progress: Progress): Promise<RunningApiserver> {
	const ranges = serviceRanges(options);
	await refuseSharedFile(options);
	const system = systemPorts(options.logLevel);
	const stopping = new AbortController();
	setMaxListeners(0, stopping.signal);
	let isReady = false;
	const pods = {
		logs: new ContainerLogs(system.metrics),
		connect: () => Promise.reject(new Error("an API server alone does not reach Pods")),
	};
	const unready = (): string | undefined => (isReady ? undefined : "bootstrap");
	const api = await startApi(options, ranges, system, unready, pods).catch(explained("--listen", options.listen));
	try {
		await writeKubeconfig(options.kubeconfig, { server: api.url, ca: api.ca, user: { token: api.token } });
		progress(`API at ${api.url}`);
		await Promise.all([bootstrap(api.client), bootstrapAccess(asManager(api.client, "kube-apiserver"))]);
		const { signal } = stopping;
		const { client } = api;
		const informers = new Informers({ client, ...system });
		const recorder = new EventRecorder({ client, ...system });
		const place = { host: options.listen.host, port: api.port };
		const own = madeControllers(
			{ client, informers, queues: new WorkQueues(system), recorder, ...system },
			{
				...DEFAULT_PLANE_OPTIONS,
				controllers: ["kubernetes-service-controller"],
				api: { listen: place, serviceCIDRs: options.serviceCIDRs, isOneOfMany: true },
			},
		);
		const running = [
			recorder.run(signal),
			api.tidy(signal),
			...own.map((controller) => controller.run(signal)),
			informers.run(signal),
		].map((part) => part.catch((error: unknown) => system.log.error("A part stopped", { error })));
		await informers.whenSynced(signal);
		isReady = true;
		return {
			url: api.url,
			lost: api.lost,
			async stop() {
				stopping.abort();
				await Promise.all(running);
				await api.stop(STOP_GRACE_MS);
			},
		};
	} catch (error) {
		stopping.abort();
		await api.stop(0);
		throw error;
	}
}
