/** The controllers in a process of their own, for any API server: one process leads, others stand by. */
import { setMaxListeners } from "node:events";
import { ENDPOINT_SLICES } from "../api/resource-names.ts";
import type { HttpClient } from "../edge/http-client.ts";
import type { ServerAccess } from "../edge/http-exchange.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { timesProblem } from "../machinery/leader-election.ts";
import { untilAllowed } from "../machinery/until-allowed.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { clientFor } from "./cluster-client.ts";
import { controllersRefusalTeller, ENDPOINT_CONTROLLERS } from "./controller-rights.ts";
import { selectedControllers } from "./controller-selection.ts";
import { type Lead, type LeadOptions, leadOf } from "./lead.ts";
import { foreignSlice, livingManager, OWN_MANAGER, WHAT_TO_DO } from "./other-managers.ts";
import { type HostPort, servePartStatus } from "./part-status.ts";
import { isOwnServer } from "./server-kind.ts";
import { APART_NAMES, type ControllersOptions, madeControllers } from "./start-controllers.ts";
import { type SystemPorts, systemPorts } from "./system-ports.ts";

export interface ApartOptions extends Omit<ControllersOptions, "controllers" | "api" | "rootCA" | "fieldManager"> {
	/** As in {@link ControllersOptions}; undefined: as suits the server. */
	readonly controllers: readonly string[] | undefined;
	/** Undefined: it works at once, whoever else does. */
	readonly election: LeadOptions | undefined;
	/** Works beside a kube-controller-manager, and on slices that another program has written. */
	readonly isTakingOver: boolean;
	/** Of /healthz and /metrics; undefined: not served. */
	readonly status: HostPort | undefined;
	readonly logLevel: "debug" | "warn";
}

/** @throws {RangeError} When options cannot go together; the message names the flag. */
export function checkApartOptions({ controllers, election }: Pick<ApartOptions, "controllers" | "election">): void {
	if (controllers !== undefined && selectedControllers(APART_NAMES, controllers).size === 0)
		throw new RangeError(`--controllers ${controllers.join()}: none is left; '*' is all`);
	const problem = election === undefined ? undefined : timesProblem(election);
	if (problem !== undefined) throw new RangeError(problem);
}

export interface ApartNews {
	/** What comes and goes, a sentence each. */
	progress(text: string): void;
	/** It leads, and its caches are filled. */
	ready(text: string): void;
}

/**
 * Works until `signal` aborts. Resolves early, with a sentence that says why, when it must not go on.
 *
 * Rejects when the server cannot be asked, or an address cannot be had.
 */
export async function runControllers(
	access: ServerAccess,
	options: ApartOptions,
	news: ApartNews,
	signal: AbortSignal,
): Promise<string | undefined> {
	const system = systemPorts(options.logLevel);
	setMaxListeners(0, signal);
	const lead = leadOf(() => clientFor(access, { part: "controllers" }), options.election, system, news.progress);
	const refused = controllersRefusalTeller(system.clock, signal);
	const client = clientFor(access, { part: "controllers", mayWrite: lead.mayWrite, refused });
	let isLeader = false;
	const lost = (): string | undefined => (isLeader && !lead.mayWrite() ? "the lead is lost" : undefined);
	const status = await servePartStatus(options.status, system.metrics, lost);
	if (status.port !== undefined) news.progress(`Metrics at port ${status.port}`);
	try {
		const names = options.controllers ?? ((await isOwnServer(client)) ? ["*"] : ENDPOINT_CONTROLLERS);
		await lead.acquire(signal);
		isLeader = true;
		const work = new ApartWork({ client, lead, system, rootCA: access.ca ?? "" }, { ...options, controllers: names });
		return await work.run(news, signal);
	} catch (error) {
		if (signal.aborted) return undefined;
		throw error;
	} finally {
		client.close();
		await lead.release();
		status.close();
	}
}

interface ApartPorts {
	readonly client: HttpClient;
	readonly lead: Lead;
	readonly system: SystemPorts;
	readonly rootCA: string;
}

/** What the leader does. */
class ApartWork {
	readonly #ports: ApartPorts;
	readonly #options: ApartOptions & { readonly controllers: readonly string[] };
	readonly #ending = new AbortController();
	readonly #informers: Informers;

	constructor(ports: ApartPorts, options: ApartOptions & { readonly controllers: readonly string[] }) {
		this.#ports = ports;
		this.#options = options;
		this.#informers = new Informers({ client: ports.client, ...ports.system });
		setMaxListeners(0, this.#ending.signal);
	}

	/** The work ends first, then the lead. */
	async run(news: ApartNews, signal: AbortSignal): Promise<string | undefined> {
		const { lead } = this.#ports;
		const leading = new AbortController();
		const stopped = new Promise<undefined>((resolve) => {
			if (signal.aborted) resolve(undefined);
			signal.addEventListener("abort", () => resolve(undefined), { once: true });
		});
		const running: Promise<unknown>[] = [];
		const lost = lead.hold(leading.signal);
		try {
			return await Promise.race([lost, stopped, this.#work(news, running)]);
		} finally {
			this.#ending.abort();
			// What is under way is not waited for once others may lead; whoever started this closes the client.
			await Promise.race([Promise.allSettled(running), lost]);
			leading.abort();
			await lost;
		}
	}

	/** Resolves only when it must not go on. @param running What is to be waited for at the end. */
	async #work(news: ApartNews, running: Promise<unknown>[]): Promise<string> {
		const { client, system, rootCA } = this.#ports;
		const { signal } = this.#ending;
		const { isTakingOver, election } = this.#options;
		// Who shares the manager's own Lease leads instead of it.
		if (!isTakingOver && election?.name !== "kube-controller-manager") {
			const look = () => livingManager(client, system.clock, signal, news.progress);
			const manager = await untilAllowed(system, signal, look);
			if (manager !== undefined) return manager + WHAT_TO_DO;
		}
		const informers = this.#informers;
		const selected = selectedControllers(APART_NAMES, this.#options.controllers);
		const foreign = isTakingOver ? new Promise<string>(() => undefined) : foreignSlice(informers, selected);
		const slices = informers.of(ENDPOINT_SLICES);
		running.push(informers.run(signal));
		const first = await Promise.race([foreign, slices.whenSynced(signal)]);
		if (typeof first === "string") return first;
		const recorder = new EventRecorder({ client, ...system });
		const ports = { client, informers, queues: new WorkQueues(system), recorder, ...system };
		const controllers = madeControllers(ports, { ...this.#options, rootCA, fieldManager: OWN_MANAGER });
		running.push(recorder.run(signal), ...controllers.map((controller) => controller.run(signal)));
		await Promise.race([foreign, informers.whenSynced(signal)]);
		news.ready(`${controllers.length} of ${APART_NAMES.length}: ${controllers.map(({ name }) => name).join(", ")}`);
		return foreign;
	}
}
