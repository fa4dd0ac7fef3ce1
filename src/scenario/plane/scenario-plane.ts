/** The plane that a scenario runs in: an API, controllers and a garbage collector, on virtual time, in one process. */
import { type CIDR, parseCIDR } from "../../api/ip.ts";
import type { Resource, ResourceType } from "../../api/resource.ts";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import type { Node } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { InProcessClient } from "../../apiserver/in-process-client.ts";
import { MASTERS_GROUP } from "../../apiserver/users.ts";
import { assertDefined } from "../../kernel/assert.ts";
import type { Store } from "../../store/store.ts";
import { TestServer } from "../../testing/test-server.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { DEFAULT_PLANE_OPTIONS } from "../../wiring/plane-options.ts";
import { madeControllers } from "../../wiring/start-controllers.ts";
import type { Kind } from "../format/vocabulary.ts";
import { ComponentFaults, type FaultPorts } from "./component-faults.ts";
import { ComponentLog } from "./component-log.ts";
import { Controllers } from "./controllers.ts";
import { ScenarioDns } from "./dns.ts";
import { Proxies } from "./proxies.ts";
import { type NamedFlow, ScenarioProxy } from "./proxy.ts";
import { ServerFaults } from "./server-faults.ts";
import { Trace } from "./trace.ts";
import { WriteCounts } from "./write-counts.ts";

export interface ScenarioPlaneOptions {
	/** Of generated names. */
	readonly seed: number;
	readonly maxEndpointsPerSlice: number;
	/** Default: a memory store. */
	readonly store?: Store;
	/** Virtual time that a write of the garbage collector takes. Default 0. */
	readonly collectorLatencyMs?: number;
	/** Told of every write of the controllers whose answer they get. */
	readonly wrote?: (verb: string, answer: unknown) => void;
}

const SERVICE_CIDRS = ["10.96.0.0/12", "fd00:96::/112"];
const CLUSTER_CIDRS = ["10.1.0.0/16", "fd00:1::/48"];
/** How long, in virtual time, a plane may need until nothing is left to do. */
const SETTLE_MS_MAX = 60_000;

/**
 * What kube-controller-manager would run that touches Services and what they select. Nothing that would set the
 * status of Pods or Nodes, or place Pods: that is the scenario's to say.
 */
const CONTROLLERS = [
	"endpointslice-controller",
	"endpointslice-mirroring-controller",
	"endpoints-controller",
	"deployment-controller",
	"replicaset-controller",
	"statefulset-controller",
	"namespace-controller",
];

export class ScenarioPlane {
	readonly server: TestServer;
	readonly serverFaults: ServerFaults;
	readonly controllers: Controllers;
	readonly garbageCollector: Controllers;
	readonly counts: WriteCounts = new WriteCounts();
	readonly trace: Trace;
	readonly proxies: Proxies = new Proxies();
	readonly dns: ScenarioDns;
	readonly apiLog: ComponentLog;
	/** What the API server itself keeps: the Service of its own address. */
	readonly #apiParts: Controllers;

	private constructor(
		{ server, apiLog }: { readonly server: TestServer; readonly apiLog: ComponentLog },
		{ maxEndpointsPerSlice, wrote, collectorLatencyMs = 0 }: ScenarioPlaneOptions,
	) {
		this.server = server;
		this.apiLog = apiLog;
		const { clock } = server;
		this.serverFaults = new ServerFaults(clock);
		this.trace = new Trace(clock);
		const component = (name: string, controllers: readonly string[], heard: Partial<FaultPorts> = {}): Controllers => {
			const faults = new ComponentFaults(name, { clock, server: this.serverFaults, trace: this.trace, ...heard });
			const api = { ...DEFAULT_PLANE_OPTIONS, serviceCIDRs: SERVICE_CIDRS };
			const options = { ...DEFAULT_PLANE_OPTIONS, api, maxEndpointsPerSlice, controllers };
			const user = { name: `system:serviceaccount:kube-system:${name}`, groups: [MASTERS_GROUP] };
			return new Controllers({
				client: new InProcessClient(server.server, user),
				clock,
				random: server.random,
				faults,
				make: (ports) => madeControllers(ports, options),
			});
		};
		this.controllers = component("controllers", CONTROLLERS, {
			counts: this.counts,
			...(wrote === undefined ? {} : { wrote }),
		});
		this.garbageCollector = component("garbage-collector", ["garbage-collector-controller"], {
			latencyMs: collectorLatencyMs,
		});
		this.#apiParts = component("apiserver", ["kubernetes-service-controller"]);
		const dnsUser = { name: "system:serviceaccount:kube-system:coredns", groups: [MASTERS_GROUP] };
		this.dns = new ScenarioDns({
			client: new InProcessClient(server.server, dnsUser),
			clock,
			random: server.random,
			faults: new ComponentFaults("dns", { clock, server: this.serverFaults, trace: this.trace }),
			ranges: [...SERVICE_CIDRS, ...CLUSTER_CIDRS].map(parsed),
		});
	}

	/** With no controllers running: they see first what {@link startControllers} finds. */
	static async start(options: ScenarioPlaneOptions): Promise<ScenarioPlane> {
		const clusterIPs = SERVICE_CIDRS.map(parsed);
		const nodePorts = { first: 30_000, last: 32_767 };
		const clock = new VirtualClock();
		const apiLog = new ComponentLog(clock);
		const server = await TestServer.start({
			clock,
			log: apiLog,
			seed: options.seed,
			ranges: { clusterIPs, nodePorts },
			...(options.store === undefined ? {} : { store: options.store }),
		});
		return new ScenarioPlane({ server, apiLog }, options);
	}

	get clock(): VirtualClock {
		return this.server.clock;
	}

	/** Everything that works by the API, and can be out of step with it. */
	get components(): readonly Controllers[] {
		return [this.controllers, this.garbageCollector, this.#apiParts];
	}

	/** A proxy on the node, for its own name and for others that it may have been given. */
	startProxy(node: Node, names: readonly string[], flows: readonly NamedFlow[]): void {
		const addresses = (node.status?.addresses ?? []).map(({ address }) => address);
		this.proxies.add(node, names, (_, startedAs) => {
			const name = `proxy ${node.metadata.name}${startedAs === node.metadata.name ? "" : ` as ${startedAs}`}`;
			const faults = new ComponentFaults(name, { clock: this.clock, server: this.serverFaults, trace: this.trace });
			const user = { name: `system:node:${startedAs}`, groups: [MASTERS_GROUP] };
			return new ScenarioProxy({
				client: new InProcessClient(this.server.server, user),
				clock: this.clock,
				random: this.server.random,
				faults,
				node: { addresses, clusterCIDRs: CLUSTER_CIDRS.map(parsed), serviceCIDRs: SERVICE_CIDRS.map(parsed) },
				startedAs,
				flows,
			});
		});
		for (const proxy of this.proxies.of(node.metadata.name)) proxy.start();
	}

	startControllers(): void {
		for (const component of this.components) component.start();
	}

	async stop(): Promise<void> {
		await Promise.all(this.#parts().map((part) => part.stop()));
	}

	/** Stops the API for its components, or lets it come back. */
	setStopped(isStopped: boolean): void {
		this.serverFaults.isStopped = isStopped;
		if (!isStopped) return;
		for (const part of this.#parts()) part.breakWatches();
	}

	/** Lets time pass until nothing is left to do. False when that was not so within a minute. */
	settle(allowRetry: boolean): Promise<boolean> {
		return this.clock.until(() => this.#parts().every((each) => each.isSettled(allowRetry)), SETTLE_MS_MAX);
	}

	/** Why it is not settled, for people. */
	unsettled(): string {
		const reasons = this.#parts().flatMap((each) => each.unsettled());
		return reasons.length === 0 ? "something runs in circles" : reasons.join("; ");
	}

	#parts(): readonly (Controllers | ScenarioProxy | ScenarioDns)[] {
		return [...this.components, ...this.proxies.all, this.dns];
	}

	/** What is stored of the resource, in order of keys. */
	stored(resource: Resource, namespace = ""): readonly KubeObject[] {
		const { storagePrefix } = typeOf(resource);
		const prefix = namespace === "" || !resource.namespaced ? "" : `${namespace}/`;
		const range = this.server.store.space(storagePrefix).range({ prefix });
		return range.kind === "range" ? range.entries.map(({ object }) => object) : [];
	}
}

function parsed(range: string): CIDR {
	return assertDefined(parseCIDR(range), `range ${range}`);
}

/** The type of a kind of the format. */
export function typeOfKind(kind: Kind): ResourceType {
	return assertDefined(
		RESOURCE_TYPES.find((type) => type.kind === kind),
		`type of kind ${kind}`,
	);
}

export function typeOf(resource: Resource): ResourceType {
	return assertDefined(
		RESOURCE_TYPES.find((type) => type.plural === resource.plural && type.group === resource.group),
		`type of ${resource.plural}`,
	);
}
