/**
 * The plane's side of the data plane: follows Services, EndpointSlices and Pods, and tells the worker what
 * to do. One update is under way at a time; what changes meanwhile goes into the next one.
 */
import type { Duplex } from "node:stream";
import { MessageChannel } from "node:worker_threads";
import { SERVICES } from "../api/resource-names.ts";
import { compareResourceVersions } from "../api/resource-version.ts";
import { MessagePortStream } from "../edge/message-port-stream.ts";
import { unreachable } from "../kernel/assert.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { PodInside } from "../kubelet/fleet.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import type { EventSink } from "../machinery/event-recorder.ts";
import type { Informers } from "../machinery/informers.ts";
import type { ListenFailure } from "../proxy/front.ts";
import { addressText, type ListenProblem } from "../proxy/ports.ts";
import { type Channel, type ChannelUser, openChannel } from "./data-plane-channel.ts";
import type { DataPlaneConfig, DataPlaneUpdate, FromDataPlane } from "./data-plane-messages.ts";
import { applyMeasurements } from "./data-plane-metrics.ts";
import { DataPlaneView } from "./data-plane-view.ts";

export interface DataPlanePorts {
	readonly informers: Informers;
	readonly clock: Clock;
	readonly log: Logger;
	readonly recorder: EventSink;
	readonly metrics: Metrics;
	readonly options: DataPlaneConfig;
	/** What the pod's status does not say; undefined: nothing is known. */
	inside(podUID: string): PodInside | undefined;
	/** Told every request that a pod answered. */
	answered(request: AnsweredRequest): void;
	/** Stops the data plane. */
	readonly signal: AbortSignal;
	/** Puts something between the plane and its data plane, which `openInner` opens. */
	openAround?(user: ChannelUser, openInner: (user: ChannelUser) => Channel): Channel;
}

export interface DataPlane {
	/** resourceVersion of the EndpointSlices that traffic goes by; undefined before the first tables. */
	readonly asOf: string | undefined;
	/** A connection to a port of the pod with this address. Rejects with the reason, and when `signal` aborts. */
	dial(ip: string, podPort: number, signal: AbortSignal): Promise<Duplex>;
	/** Resolves when connections to the pod, by `namespace/name`, get there. Rejects when `signal` aborts. */
	whenTold(podKey: string, signal: AbortSignal): Promise<void>;
	/** Port that the gateway listens on. Rejects when it cannot listen, or there is none. */
	readonly gateway: Promise<number>;
	/** Port that DNS listens on. Rejects when it cannot listen, or is not served. */
	readonly dns: Promise<number>;
	/** Resolves when traffic goes by EndpointSlices that are not older than this. Rejects when stopped first. */
	whenApplied(asOf: string): Promise<void>;
	/** Resolves when listeners and connections are closed, after `signal` has aborted. Never rejects. */
	readonly stopped: Promise<void>;
}

export function startDataPlane(ports: DataPlanePorts): DataPlane {
	return new FollowingDataPlane(ports);
}

interface Waiter {
	readonly asOf: string;
	resolve(): void;
	reject(reason: unknown): void;
}

class FollowingDataPlane implements DataPlane {
	readonly stopped: Promise<void>;
	readonly gateway: Promise<number>;
	readonly dns: Promise<number>;
	readonly #gateway = new Opening("this data plane has no gateway");
	readonly #dns = new Opening("this data plane serves no DNS");
	readonly #ports: DataPlanePorts;
	readonly #view: DataPlaneView;
	readonly #channel: Channel;
	readonly #waiters = new Set<Waiter>();
	/** By pod: who wants to know when the data plane is told of it. */
	readonly #untold = new Map<string, Set<() => void>>();
	#asOf: string | undefined;
	/** The worker has taken nothing in yet. */
	#isEmpty = true;
	/** The worker can be told something: it is there, and has answered the last update. */
	#isIdle = false;
	/** resourceVersion of the last update that was sent. */
	#sentAsOf: string | undefined;

	constructor(ports: DataPlanePorts) {
		this.#ports = ports;
		const { drain = true } = ports.options.faults ?? {};
		const { informers, log } = ports;
		this.#view = new DataPlaneView(informers, { inside: (uid) => ports.inside(uid), drains: drain, log });
		this.gateway = this.#gateway.port;
		this.dns = this.#dns.port;
		if (ports.options.gateway === undefined) this.#gateway.failed();
		if (ports.options.dns === undefined) this.#dns.failed();
		const user = { started: () => this.#started(), received: (message: FromDataPlane) => this.#received(message) };
		const openInner = (innerUser: ChannelUser): Channel => openChannel(ports.options, ports, innerUser);
		this.#channel = ports.openAround?.(user, openInner) ?? openInner(user);
		const unfollow = this.#view.follow(() => this.#flush());
		this.stopped = aborted(ports.signal).then(() => this.#stop(unfollow));
	}

	get asOf(): string | undefined {
		return this.#asOf;
	}

	#connect(ip: string, podPort: number): Duplex {
		const { port1, port2 } = new MessageChannel();
		this.#channel.post({ kind: "connect", ip, podPort, port: port2 });
		return new MessagePortStream(port1);
	}

	dial(ip: string, podPort: number, signal: AbortSignal): Promise<Duplex> {
		const stream = this.#connect(ip, podPort);
		return new Promise((resolve, reject) => {
			const abort = (): void => void stream.destroy(new Error("aborted"));
			const done = (): void => signal.removeEventListener("abort", abort);
			stream.once("connect", () => {
				done();
				stream.off("error", reject);
				resolve(stream);
			});
			stream.once("error", reject);
			stream.once("close", () => {
				done();
				reject(new Error(`connect ECONNRESET ${ip}:${podPort}`));
			});
			if (signal.aborted) abort();
			else signal.addEventListener("abort", abort, { once: true });
		});
	}

	/** What is sent later comes later: it is enough that the update is on its way. */
	whenTold(podKey: string, signal: AbortSignal): Promise<void> {
		if (!this.#isEmpty && this.#view.hasTold(podKey)) return Promise.resolve();
		return new Promise((resolve, reject) => {
			const waiting = this.#untold.get(podKey) ?? new Set();
			this.#untold.set(podKey, waiting.add(resolve));
			const abort = (): void => {
				waiting.delete(resolve);
				if (waiting.size === 0 && this.#untold.get(podKey) === waiting) this.#untold.delete(podKey);
				reject(signal.reason);
			};
			if (signal.aborted) abort();
			else signal.addEventListener("abort", abort, { once: true });
		});
	}

	#tellWaiting(keys: readonly string[]): void {
		for (const key of keys) {
			for (const resolve of this.#untold.get(key) ?? []) resolve();
			this.#untold.delete(key);
		}
	}

	whenApplied(asOf: string): Promise<void> {
		if (this.#ports.signal.aborted) return Promise.reject(this.#ports.signal.reason);
		if (this.#asOf !== undefined && compareResourceVersions(this.#asOf, asOf) >= 0) return Promise.resolve();
		return new Promise((resolve, reject) => this.#waiters.add({ asOf, resolve, reject }));
	}

	async #stop(unfollow: () => void): Promise<void> {
		unfollow();
		this.#isIdle = false;
		for (const waiter of this.#waiters) waiter.reject(this.#ports.signal.reason);
		this.#waiters.clear();
		await this.#channel.stop();
	}

	#started(): void {
		this.#asOf = undefined;
		this.#isEmpty = true;
		this.#isIdle = true;
		this.#flush();
	}

	#flush(): void {
		const { asOf } = this.#view;
		if (asOf === undefined || !this.#isIdle || this.#ports.signal.aborted) return;
		const update = this.#isEmpty ? this.#view.takeAll(asOf) : this.#view.takeChanges(asOf);
		if (!this.#isEmpty && asOf === this.#sentAsOf && isNothing(update)) return;
		this.#isEmpty = false;
		this.#isIdle = false;
		this.#sentAsOf = asOf;
		this.#channel.post(update);
		this.#tellWaiting(update.pods.put.map(({ key }) => key));
	}

	#received(message: FromDataPlane): void {
		const { log, metrics } = this.#ports;
		switch (message.kind) {
			case "applied":
				this.#applied(message.asOf);
				break;
			case "gateway":
				this.#gateway.opened(message.port);
				break;
			case "gateway-failed":
				this.#gateway.failed(message.message);
				break;
			case "dns":
				this.#dns.opened(message.port);
				break;
			case "dns-failed":
				this.#dns.failed(message.message);
				break;
			case "listen-failed":
				this.#listenFailed(message.failure);
				break;
			case "answered":
				for (const request of message.requests) this.#ports.answered(request);
				break;
			case "measured":
				applyMeasurements(metrics, message.measurements);
				break;
			case "log":
				log[message.level](message.message, message.fields);
				break;
			default:
				unreachable(message);
		}
	}

	#applied(asOf: string): void {
		this.#asOf = asOf;
		this.#isIdle = true;
		for (const waiter of this.#waiters) {
			if (compareResourceVersions(asOf, waiter.asOf) < 0) continue;
			this.#waiters.delete(waiter);
			waiter.resolve();
		}
		this.#flush();
	}

	#listenFailed(failure: ListenFailure): void {
		const { informers, log, recorder } = this.#ports;
		const address = addressText(failure.address);
		const fields = { service: failure.serviceKey, address, error: failure.message };
		// The node port works anyway.
		if (failure.use === "service-port") {
			log.info("Port of a load balancer could not be opened", fields);
			return;
		}
		const isHealthCheck = failure.use === "health-check";
		log.warn(`${isHealthCheck ? "Health check node port" : "Node port"} could not be opened`, fields);
		const object = informers.of(SERVICES).get(failure.serviceKey);
		if (object === undefined) return;
		const message = `cannot listen on ${address}${ofPort(failure.portName)}: ${ADVICE[failure.problem]}`;
		const about = { component: "sliceplane-proxy", resource: SERVICES, object };
		const reason = isHealthCheck ? "FailedToStartServiceHealthcheck" : "FailedToListen";
		recorder.record({ ...about, type: "Warning", reason, message });
	}
}

/** A port that the data plane takes once, or fails to take. */
class Opening {
	readonly port: Promise<number>;
	readonly #absent: string;
	opened: (port: number) => void = () => undefined;
	#reject: (error: Error) => void = () => undefined;

	/** @param absent Why it is not there when nobody asked for it. */
	constructor(absent: string) {
		this.#absent = absent;
		this.port = new Promise((resolve, reject) => {
			this.opened = resolve;
			this.#reject = reject;
		});
		// Whoever wants it asks for it.
		this.port.catch(() => undefined);
	}

	failed(message: string = this.#absent): void {
		this.#reject(new Error(message));
	}
}

const ADVICE: Readonly<Record<ListenProblem, string>> = {
	"address-in-use": "another program has this port; it is tried again until the port is free",
	"address-not-available": "this machine does not have this address",
	"permission-denied": "this user may not open this port; choose a node port above 1023",
	other: "the system refused; the log says why",
};

function ofPort(name: string): string {
	return name === "" ? "" : ` for port ${JSON.stringify(name)}`;
}

function isNothing({ pods, services, nodes, namespaces }: DataPlaneUpdate): boolean {
	return [pods, services, nodes, namespaces].every(({ put, remove }) => put.length === 0 && remove.length === 0);
}

function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
