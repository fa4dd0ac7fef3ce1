/**
 * A whole plane in one process, on virtual time: store, API server, controllers, simulated nodes.
 *
 *     const plane = await startTestPlane({ nodes: 3 });
 *     await plane.client.create(DEPLOYMENTS, "default", deployment);
 *     await plane.advance(2_000);
 *     ...
 *     await plane.stop();
 *
 * Time, names and uids come from the options alone: the same steps give the same history, to the byte.
 */
import { setMaxListeners } from "node:events";
import { parseCIDR } from "../api/ip.ts";
import { RESOURCE_TYPES } from "../api/resource-table.ts";
import { ApiServer } from "../apiserver/api-server.ts";
import { InProcessClient } from "../apiserver/in-process-client.ts";
import { cacheFolder } from "../edge/cache-folder.ts";
import { CelRules } from "../edge/cel-rules.ts";
import type { Handler } from "../edge/https-server.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { LogFields, Logger } from "../kernel/logger.ts";
import { Fleet } from "../kubelet/fleet.ts";
import type { ContainerRuntime, Prober } from "../kubelet/ports.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { startRevision } from "../store/memory-engine.ts";
import { memoryStore, type Store } from "../store/store.ts";
import { bootstrap } from "../wiring/bootstrap.ts";
import { bootstrapAccess } from "../wiring/bootstrap-access.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "../wiring/plane-options.ts";
import { madeControllers } from "../wiring/start-controllers.ts";
import { inProcessFetch } from "./in-process-fetch.ts";
import { limitedClient } from "./limited-client.ts";
import { CountingIds, SeededRandom } from "./seeded.ts";
import { type ServedApi, servedApi } from "./served-api.ts";
import { silentLogger, silentMetrics } from "./silent.ts";
import { ADMIN, testApi } from "./test-api.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What `up` can be told, as far as it matters without sockets. */
type ClusterOptions = Omit<
	PlaneOptions,
	"listen" | "kubeconfig" | "cacheFolder" | "network" | "runtime" | "logLevel" | "nodePortRange"
>;

export interface TestPlaneOptions extends Partial<ClusterOptions> {
	/** With the roles and bindings that `up` makes. Default: none, and only the admin may do anything. */
	readonly roles?: boolean;
	/** Of generated names. Default 1. */
	readonly seed?: number;
	/** When virtual time begins. Default 2026-01-01T00:00:00Z. */
	readonly epoch?: string;
	/**
	 * Runs over the API of another plane, whose objects and time go on: what a restart of controllers and
	 * kubelets is, once that one's are stopped. `seed` and `epoch` then say nothing.
	 */
	readonly over?: TestPlane;
	/** Lets probes really run. Without it they are taken to succeed. */
	readonly prober?: Prober;
	/** Runs containers. Without it they are simulated. */
	readonly runtime?: ContainerRuntime;
	/** Wraps the door to the API that controllers and nodes get, such as to refuse some of their writes. */
	readonly wrapClient?: (client: ApiClient) => ApiClient;
}

export interface TestPlane {
	/** May do everything. */
	readonly client: ApiClient;
	readonly server: ApiServer;
	readonly store: Store;
	readonly clock: VirtualClock;
	/** The caches that controllers and nodes share. */
	readonly informers: Informers;
	readonly logs: ContainerLogs;
	/** Texts that controllers and nodes logged as warnings or errors, with their cause. */
	readonly warnings: readonly string[];
	/** Lets time pass, and everything happen that becomes due. */
	advance(byMs: number): Promise<void>;
	/** Lets everything happen that needs no time. */
	settle(): Promise<void>;
	/** Lets time pass until `holds`; rejects, naming `what`, when it does not within `withinMs` (default a minute). */
	until(what: string, holds: () => boolean, withinMs?: number): Promise<void>;
	/**
	 * `fetch` into the API, without a network and on virtual time, with the credentials of the admin unless the request
	 * has others. A path is enough of a URL; of a whole one, the host says nothing. A watch is a body that streams.
	 */
	readonly fetch: typeof globalThis.fetch;
	/**
	 * Serves the API with TLS on a free port of 127.0.0.1, for clients that need a socket. Time still moves only when a
	 * test moves it.
	 */
	listen(): Promise<ServedApi>;
	/** Ends controllers, nodes and what listens. In process, the API still answers. */
	stop(): Promise<void>;
}

/**
 * Starts a plane and resolves when its caches are filled and there is nothing left to do.
 *
 * @param options What is left out has the default of `sliceplane up`: three nodes, every controller.
 * @throws {Error} When a range or an option is none that a plane can have.
 * @see docs/scenarios.md
 * @example
 *     const plane = await startTestPlane({ nodes: 2 });
 *     const spec = { selector: { app: "web" }, ports: [{ port: 80 }] };
 *     await plane.client.create(SERVICES, "default", { metadata: { name: "web" }, spec });
 *     await plane.advance(1_000);
 *     const { items } = await plane.client.list(ENDPOINT_SLICES, { namespace: "default" });
 *     assert.equal(items.filter(({ metadata }) => metadata.name.startsWith("web-")).length, 1);
 *     await plane.stop();
 */
export async function startTestPlane(options: TestPlaneOptions = {}): Promise<TestPlane> {
	const settings = { ...DEFAULT_PLANE_OPTIONS, ...options };
	const clock = options.over?.clock ?? new VirtualClock(options.epoch);
	const server = options.over?.server ?? (await newServer(settings, clock, options));
	const { random, metrics } = server.ports;
	const warnings: string[] = [];
	const log = warningsTo(warnings);
	const client = new InProcessClient(server, ADMIN);
	const partsClient = options.wrapClient?.(client) ?? client;
	const informers = new Informers({ client: partsClient, clock, random, log });
	const recorder = new EventRecorder({ client: partsClient, clock, random, log, metrics });
	const logs = new ContainerLogs(metrics);
	const queues = new WorkQueues({ clock, metrics });
	const ports = { client: partsClient, informers, queues, recorder, logs, clock, random, log, metrics };
	const { prober, runtime } = options;
	const fleetPorts = { ...ports, ...(prober && { prober }), ...(runtime && { runtime }) };
	const fleet = settings.nodes === 0 ? [] : [new Fleet(fleetPorts, { ...settings, kubeletVersion: "v1.36.2" })];
	const stopping = new AbortController();
	setMaxListeners(0, stopping.signal);
	const refused = new Set<string>();
	const clientAs = (user: string): ApiClient =>
		limitedClient(partsClient, user, (right) => refused.add(`${user} may not ${right}`));
	const controllers = madeControllers(ports, { ...settings, api: settings }, clientAs);
	const parts = [recorder, ...controllers, ...fleet, informers];
	const running = parts.map((part) => part.run(stopping.signal));
	await clock.settle();
	// Most tests speak no HTTP: what it needs is made when the first one does.
	let api: ReturnType<typeof testApi> | undefined;
	const handler: Handler = (request) => {
		api ??= testApi({ server, logs });
		return api.handle(request);
	};
	const served: ServedApi[] = [];
	return {
		client,
		server,
		store: server.ports.store,
		logs,
		clock,
		informers,
		warnings,
		advance: (byMs) => clock.advance(byMs),
		settle: () => clock.settle(),
		async until(what, holds, withinMs = 60_000) {
			if (!(await clock.until(holds, withinMs))) throw new Error(`${what}: not within ${withinMs} ms of virtual time`);
		},
		fetch: inProcessFetch(handler),
		async listen() {
			const api = await servedApi(handler, cacheFolder());
			served.push(api);
			return api;
		},
		async stop() {
			stopping.abort();
			await Promise.all([...running, ...served.map((each) => each.close())]);
			// Whatever a controller does, its role must give it: on a plane it is refused without a word to anybody.
			if (refused.size > 0) throw new Error([...refused].join("; "));
		},
	};
}

async function newServer(
	settings: ClusterOptions,
	clock: VirtualClock,
	{ seed = 1, roles = false }: TestPlaneOptions,
): Promise<ApiServer> {
	const clusterIPs = settings.serviceCIDRs.map((text) => assertDefined(parseCIDR(text), `range ${text}`));
	const { from, to } = DEFAULT_PLANE_OPTIONS.nodePortRange;
	const server = new ApiServer({
		rules: new CelRules(),
		store: memoryStore(startRevision(clock.wallMs())),
		types: RESOURCE_TYPES,
		clock,
		random: new SeededRandom(seed),
		ids: new CountingIds(),
		log: silentLogger,
		metrics: silentMetrics,
		ranges: { clusterIPs, nodePorts: { first: from, last: to } },
	});
	const client = new InProcessClient(server, ADMIN);
	await bootstrap(client);
	if (roles) await bootstrapAccess(client);
	return server;
}

function warningsTo(warnings: string[]): Logger {
	const keep = (message: string, { error, ...fields }: LogFields = {}): void => {
		warnings.push([message, JSON.stringify(fields), error instanceof Error ? error.message : ""].join(" "));
	};
	return { ...silentLogger, warn: keep, error: keep };
}
