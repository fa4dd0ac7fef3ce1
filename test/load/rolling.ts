/** Rolling updates under load: each resolves with what was sent, and what failed. */
import { NODES } from "../../src/api/resource-names.ts";
import type { TrafficFaults } from "../../src/wiring/data-plane-messages.ts";
import { freeNodePort } from "../e2e/node-ports.ts";
import { eventually } from "../e2e/plane.ts";
import { BuiltPlane } from "./built-plane.ts";
import { dial, GrpcClient } from "./grpc-ways.ts";
import { ask, GatewayAgent, httpWay, keptAgent, tunnel } from "./http-ways.ts";
import { deployment, type RolledDeployment, shopService } from "./manifests.ts";
import { type LoadReport, type Send, underLoad } from "./open-loop.ts";

const PER_SECOND = 200;
/** In flight long enough that some are when their Pod begins to terminate. */
const PATH = "/delay?ms=50";
/** The load goes on so long after the last Pod has gone. */
const AFTER_MS = 500;

async function withPlane<T>(faults: TrafficFaults, use: (plane: BuiltPlane) => Promise<T>): Promise<T> {
	const plane = await BuiltPlane.start({ nodes: 3, trafficFaults: faults });
	try {
		return await use(plane);
	} finally {
		await plane.stop();
	}
}

/** HTTP and gRPC, on fresh and kept connections, to the node port and through the gateway by name, in turn. */
function allWays({ gateway }: BuiltPlane, nodePort: number): { readonly ways: readonly Send[]; close(): void } {
	const direct = { host: "127.0.0.1", port: nodePort, path: PATH };
	const named = { host: "shop.default.svc", port: 80, path: PATH };
	const kept = keptAgent();
	const keptThrough = new GatewayAgent(gateway, true);
	const ways = [
		httpWay("node port, fresh", direct, () => false),
		httpWay("node port, kept", direct, () => kept),
		httpWay("gateway, fresh", named, () => new GatewayAgent(gateway, false)),
		httpWay("gateway, kept", named, () => keptThrough),
	];
	const grpc = [
		new GrpcClient("gRPC, node port", () => dial(direct)),
		new GrpcClient("gRPC, gateway", () => tunnel(gateway, named.host, named.port)),
	];
	return {
		ways: [...ways, ...grpc.flatMap((client) => [client.fresh, client.kept])],
		close: () => {
			kept.destroy();
			keptThrough.destroy();
			for (const client of grpc) client.close();
		},
	};
}

async function roll(plane: BuiltPlane, rolled: RolledDeployment): Promise<void> {
	await plane.apply(deployment(rolled));
	await plane.rolledOut(`part=${rolled.name}`, rolled.image, rolled.replicas);
}

async function answers(ways: readonly Send[]): Promise<void> {
	for (const send of ways)
		await eventually(send, (failure) => failure === undefined, { what: "no way to the Service" });
}

/** So many Pods, and their image changed once. */
export function rollMany(replicas: number, faults: TrafficFaults = {}): Promise<LoadReport> {
	return rollOnce({ name: "shop", image: "shop:1", replicas }, faults);
}

/** One Pod, whose successor is made only when it has begun to terminate; it drains longer than that one starts. */
export function rollOne(faults: TrafficFaults = {}): Promise<LoadReport> {
	const strategy = { maxSurge: 0, maxUnavailable: 1 };
	const annotations = { "sliceplane.dev/stop-time": "3s", "sliceplane.dev/startup-time": "1s" };
	return rollOnce({ name: "shop", image: "shop:1", replicas: 1, strategy, annotations }, faults);
}

function rollOnce(first: RolledDeployment, faults: TrafficFaults): Promise<LoadReport> {
	return withPlane(faults, async (plane) => {
		const nodePort = await freeNodePort();
		await plane.apply(shopService({ type: "NodePort" }, nodePort));
		await roll(plane, first);
		const { ways, close } = allWays(plane, nodePort);
		await answers(ways);
		const report = await underLoad(PER_SECOND, ways, async () => {
			await roll(plane, { ...first, image: "shop:2" });
			await pause(AFTER_MS);
		});
		close();
		return report;
	});
}

/** How often a load balancer asks each node whether it has endpoints. */
const HEALTH_EVERY_MS = 200;
const HEALTH_CHECK_PORT = 31_999;

/** One Pod a node, policy Local, and a client that follows the health check node ports as a load balancer would. */
export function rollBehindHealthChecks(faults: TrafficFaults = {}): Promise<LoadReport> {
	return withPlane(faults, async (plane) => {
		const nodePort = await freeNodePort();
		const local = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: HEALTH_CHECK_PORT };
		await plane.apply(shopService(local, nodePort));
		const nodes = await nodeAddresses(plane);
		const annotations = { "sliceplane.dev/stop-time": "2s", "sliceplane.dev/startup-time": "1s" };
		const strategy = { maxSurge: 0, maxUnavailable: 1 };
		const parts = [...nodes.keys()].map((node) => ({ name: `shop-${node}`, node, replicas: 1, strategy, annotations }));
		for (const part of parts) await roll(plane, { ...part, image: "shop:1" });
		const balancer = new LoadBalancer(plane, [...nodes.values()], nodePort);
		await eventually(
			() => balancer.look(),
			(healthy) => healthy === nodes.size,
		);
		const report = await underLoad(PER_SECOND, [balancer.send], async () => {
			const looking = setInterval(() => void balancer.look(), HEALTH_EVERY_MS);
			for (const part of parts) await roll(plane, { ...part, image: "shop:2" });
			await pause(AFTER_MS);
			clearInterval(looking);
		});
		return report;
	});
}

/** Sends to the nodes that said last that they have endpoints. */
class LoadBalancer {
	readonly #plane: BuiltPlane;
	readonly #nodes: readonly string[];
	readonly #nodePort: number;
	#healthy: readonly string[] = [];
	#turn = 0;

	constructor(plane: BuiltPlane, nodes: readonly string[], nodePort: number) {
		this.#plane = plane;
		this.#nodes = nodes;
		this.#nodePort = nodePort;
	}

	readonly send: Send = () => {
		const host = this.#healthy[this.#turn++ % this.#healthy.length];
		if (host === undefined) return Promise.resolve("no node is healthy");
		return httpWay("load balancer", { host, port: this.#nodePort, path: PATH }, () => this.#agent())();
	};

	/** How many nodes have endpoints. */
	async look(): Promise<number> {
		const asked = this.#nodes.map(async (host) => {
			const { status } = await ask({ host, port: HEALTH_CHECK_PORT, path: "/" }, this.#agent());
			return status === 200 ? [host] : [];
		});
		this.#healthy = (await Promise.all(asked)).flat();
		return this.#healthy.length;
	}

	#agent(): GatewayAgent {
		return new GatewayAgent(this.#plane.gateway, false);
	}
}

async function nodeAddresses({ client }: BuiltPlane): Promise<ReadonlyMap<string, string>> {
	const { items } = await client.list(NODES, {});
	return new Map(
		items.map(({ metadata, status }) => [
			metadata.name,
			status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "",
		]),
	);
}

function pause(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}
