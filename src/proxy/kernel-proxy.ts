/**
 * A node's proxy whose rules are in the kernel: takes the tables of Services as they change, and keeps the kernel's
 * rules of each family in line with them.
 *
 * One worker, however much changes: a run takes all that has changed by then. The first change after a quiet time is
 * loaded at once.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { NftElement } from "../plan/nft/objects.ts";
import type { ServiceTable, TablePort } from "../plan/service-map/service-table.ts";
import { type Flow, type ReachedPort, staleFlows } from "../plan/service-map/stale-flows.ts";
import type { FamilyRules } from "./family-rules.ts";
import { KernelProxyMetrics } from "./kernel-proxy-metrics.ts";
import type { Flows } from "./kernel-rules.ts";

export interface KernelProxyPorts<F extends Flow = Flow> {
	readonly clock: Clock;
	readonly log: Logger;
	readonly metrics: Metrics;
	readonly flows: Flows<F>;
}

export interface KernelProxyOptions {
	/** From the end of one run to the start of the next. 0: none. */
	readonly minSyncPeriodMs: number;
	/** How soon a failed run is tried again, and how often somebody else's changes are looked for. */
	readonly syncPeriodMs: number;
	readonly nodeAddresses: readonly string[];
}

export class KernelProxy<F extends Flow = Flow> {
	readonly #families: readonly FamilyRules[];
	readonly #ports: KernelProxyPorts<F>;
	readonly #options: KernelProxyOptions;
	readonly #metrics: KernelProxyMetrics;
	readonly #tables = new Map<string, ServiceTable>();
	/** By Service: when the change happened that its rules do not have yet, wall milliseconds. */
	readonly #triggers = new Map<string, number>();
	/** Ports under policy Local with endpoints, and none of them here. */
	readonly #noLocal = { internal: 0, external: 0 };
	readonly #startedWallMs: number;
	/** UDP ports that are gone, or reached elsewhere, since the flows were last looked at. */
	#removedPorts: ReachedPort[] = [];
	#hasUdpChange = true;
	/** Something has changed since the last run began. */
	#isDirty = true;
	#isRunning = false;
	#hasFailed = false;
	#checkAtMs = 0;
	#wake: () => void = () => undefined;
	#asOf: string | undefined;
	#syncedAsOf: string | undefined;
	readonly #waiting: (() => void)[] = [];

	constructor(families: readonly FamilyRules[], ports: KernelProxyPorts<F>, options: KernelProxyOptions) {
		this.#families = families;
		this.#ports = ports;
		this.#options = options;
		this.#metrics = new KernelProxyMetrics(ports.metrics);
		this.#startedWallMs = ports.clock.wallMs();
	}

	get tables(): ReadonlyMap<string, ServiceTable> {
		return this.#tables;
	}

	/** resourceVersion of the EndpointSlices that the kernel's rules were made from. */
	get asOf(): string | undefined {
		return this.#syncedAsOf;
	}

	/** Monotonic milliseconds of the last run that ended well; undefined before the first. */
	lastSyncedMs: number | undefined;

	/** Monotonic milliseconds since which a change waits; undefined when none does. */
	pendingSinceMs: number | undefined;

	/** Takes the place of the table that the Service had. */
	put(table: ServiceTable): void {
		const before = this.#tables.get(table.key);
		this.#noteUdp(before, table);
		this.#noteTrigger(before, table);
		this.#countNoLocal(before, -1);
		this.#countNoLocal(table, 1);
		this.#tables.set(table.key, table);
		this.#asOf = table.asOf ?? this.#asOf;
		for (const family of this.#families) family.put(table);
		this.#changed();
	}

	/** `key` is `namespace/name`. */
	remove(key: string): void {
		this.#noteUdp(this.#tables.get(key), undefined);
		this.#countNoLocal(this.#tables.get(key), -1);
		// Of what is gone nobody knows when it went.
		this.#triggers.delete(key);
		this.#tables.delete(key);
		for (const family of this.#families) family.remove(key);
		this.#changed();
	}

	/** Resolves when all that was put before is in the kernel. */
	synced(): Promise<void> {
		if (!this.#isDirty && !this.#isRunning && !this.#hasFailed) return Promise.resolve();
		return new Promise((resolve) => this.#waiting.push(resolve));
	}

	/** Until `signal` aborts; a run that is under way is ended first. */
	async run(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			await this.#sync();
			await this.#pause(this.#options.minSyncPeriodMs, signal);
			await this.#idle(signal);
		}
	}

	async #sync(): Promise<void> {
		const { clock } = this.#ports;
		const startedMs = clock.monotonicMs();
		const asOf = this.#asOf;
		const pendingSinceMs = this.pendingSinceMs;
		const triggers = new Map(this.#triggers);
		const isCheck = startedMs >= this.#checkAtMs;
		this.#isDirty = false;
		this.#isRunning = true;
		let isGood = true;
		for (const family of this.#families) isGood = (await this.#syncFamily(family, isCheck)) && isGood;
		if (isGood) await this.#cutStaleFlows();
		this.#isRunning = false;
		this.#hasFailed = !isGood;
		if (isCheck || !isGood) this.#checkAtMs = clock.monotonicMs() + this.#options.syncPeriodMs;
		if (!isGood) return;
		this.#tellProgrammed(triggers);
		this.#syncedAsOf = asOf;
		this.lastSyncedMs = clock.monotonicMs();
		if (this.pendingSinceMs === pendingSinceMs) this.pendingSinceMs = undefined;
		if (!this.#isDirty) for (const resolve of this.#waiting.splice(0)) resolve();
	}

	/** Whether the kernel took it. One family's failure does not keep the other from its rules. */
	async #syncFamily(rules: FamilyRules, isCheck: boolean): Promise<boolean> {
		const { clock, log } = this.#ports;
		const { family } = rules;
		if (isCheck && !(await rules.isIntact())) {
			log.warn("Rules were changed by somebody else; all are written anew", { family });
			rules.lose();
		}
		const startedMs = clock.monotonicMs();
		const result = await rules.sync();
		// What one before led somewhere, and no Service has, is gone as if it had gone just now.
		const adopted = rules.takeAdopted().flatMap((element) => reachedPorts(element, this.#options.nodeAddresses));
		if (adopted.length > 0) this.#hasUdpChange = true;
		this.#removedPorts = [...this.#removedPorts, ...adopted];
		if (result.kind === "synced") {
			this.#metrics.synced(family, result, (clock.monotonicMs() - startedMs) / 1_000);
			return true;
		}
		this.#metrics.failed(family);
		log.error("The kernel refused rules; all are written anew", { family, reason: result.message });
		return false;
	}

	async #cutStaleFlows(): Promise<void> {
		if (!this.#hasUdpChange) return;
		this.#hasUdpChange = false;
		const removed = this.#removedPorts.splice(0);
		for (const { family } of this.#families) {
			const flows = await this.#ports.flows.list(family);
			const stale = staleFlows(flows, { tables: this.#tables }, this.#options.nodeAddresses, removed);
			if (stale.length === 0) continue;
			this.#metrics.cut(family, await this.#ports.flows.cut(family, stale));
		}
	}

	/** Until something has changed, or it is time to look for it. */
	async #idle(signal: AbortSignal): Promise<void> {
		if (this.#isDirty) return;
		const now = this.#ports.clock.monotonicMs();
		const dues = [this.#checkAtMs, ...this.#families.flatMap(({ dueMs }) => dueMs ?? [])];
		await this.#pause(Math.max(0, Math.min(...dues) - now), signal, true);
	}

	/** @param isWoken Whether a change ends it early. */
	async #pause(ms: number, signal: AbortSignal, isWoken = false): Promise<void> {
		if (ms === 0 || signal.aborted) return;
		const woken = new AbortController();
		const wake = (): void => woken.abort();
		if (isWoken) this.#wake = wake;
		signal.addEventListener("abort", wake, { once: true });
		await this.#ports.clock.sleep(ms, woken.signal).catch(() => undefined);
		signal.removeEventListener("abort", wake);
		this.#wake = () => undefined;
	}

	#changed(): void {
		this.#isDirty = true;
		this.pendingSinceMs ??= this.#ports.clock.monotonicMs();
		this.#metrics.queued(this.#ports.clock.wallMs());
		this.#wake();
	}

	/** What happened before this proxy was there says nothing of it. */
	#noteTrigger(before: ServiceTable | undefined, { key, triggeredMs }: ServiceTable): void {
		if (triggeredMs === undefined || triggeredMs < this.#startedWallMs || triggeredMs === before?.triggeredMs) return;
		if (!this.#triggers.has(key)) this.#triggers.set(key, triggeredMs);
	}

	#tellProgrammed(triggers: ReadonlyMap<string, number>): void {
		const nowMs = this.#ports.clock.wallMs();
		for (const [key, triggeredMs] of triggers) {
			this.#metrics.programmed(Math.max(0, nowMs - triggeredMs) / 1_000);
			if (this.#triggers.get(key) === triggeredMs) this.#triggers.delete(key);
		}
		this.#metrics.ended(nowMs, this.#noLocal);
	}

	#countNoLocal(table: ServiceTable | undefined, by: 1 | -1): void {
		for (const port of table?.ports ?? []) {
			if (!port.hasAny || port.local.length > 0) continue;
			if (port.isInternalLocal) this.#noLocal.internal += by;
			if (port.isExternalLocal) this.#noLocal.external += by;
		}
	}

	#noteUdp(before: ServiceTable | undefined, now: ServiceTable | undefined): void {
		const had = before?.ports.filter(({ protocol }) => protocol === "UDP") ?? [];
		const has = now?.ports.filter(({ protocol }) => protocol === "UDP") ?? [];
		if (had.length === 0 && has.length === 0) return;
		this.#hasUdpChange = true;
		this.#removedPorts.push(...had.filter((port) => !has.some((other) => isSamePort(port, other))));
	}
}

/** Whether it is reached at the same places. */
function isSamePort(a: TablePort, b: TablePort): boolean {
	const placesOf = ({ clusterIP, port, nodePort, externalIPs, loadBalancerVIPs }: TablePort): string =>
		JSON.stringify([clusterIP, port, nodePort, externalIPs, loadBalancerVIPs]);
	return placesOf(a) === placesOf(b);
}

/** Where the kernel led datagrams: `10.96.0.10 . udp . 53`, and of node ports `udp . 30053`. */
function reachedPorts({ container, key }: NftElement, nodeAddresses: readonly string[]): readonly ReachedPort[] {
	const at = (clusterIP: string, port: string): ReachedPort => ({
		protocol: "UDP",
		clusterIP,
		port: Number(port),
		externalIPs: [],
		loadBalancerVIPs: [],
		nodePort: 0,
	});
	const words = key.split(" . ");
	const [port = "", protocol, ip = ""] = words.reverse();
	if (protocol !== "udp") return [];
	if (container === "service-ips") return [at(ip, port)];
	return container === "service-nodeports" ? nodeAddresses.map((address) => at(address, port)) : [];
}
