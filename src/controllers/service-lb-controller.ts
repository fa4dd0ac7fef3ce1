/** Gives Services of type LoadBalancer an address, as the controller of a cloud does. */
import { keyOf } from "../api/resource.ts";
import { SERVICES } from "../api/resource-names.ts";
import type { LoadBalancerIngress, Service } from "../api/types/core.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { planIngress, wantsLoadBalancer } from "../plan/load-balancer/ingress.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { SeenWrites } from "./seen-writes.ts";

const COMPONENT = "service-controller";
const BY_INGRESS_IP = "byIngressIP";
/** Should an event get lost, one that waits to see its own write looks again. */
const BEHIND_RECHECK_MS = 1_000;
/** All Services share one notion of what is taken. */
const ALL = "";

export class ServiceLoadBalancerController implements Controller, Reconciler {
	readonly name = "service-lb-controller";
	readonly #ports: ControllerPorts;
	readonly #services: Informer<Service>;
	readonly #queue: WorkQueue<string>;
	readonly #writes = new SeenWrites();
	/** Services that found no free address. */
	readonly #waiting = new Set<string>();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#services = ports.informers.of(SERVICES);
		this.#services.addIndex(BY_INGRESS_IP, ingressIPs);
		this.#queue = ports.queues.make({ name: "service" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		const see = (service: Service): void => {
			if (wantsLoadBalancer(service)) this.#queue.add(keyOf(service));
		};
		this.#services.addHandlers({
			added: see,
			updated: (old, service) => {
				see(service);
				this.#mayHaveFreed(old, service);
			},
			deleted: (service) => {
				this.#waiting.delete(keyOf(service));
				this.#mayHaveFreed(service, undefined);
			},
		});
		await this.#services.whenSynced(signal).catch(() => undefined);
		// One worker: each decision sees the ones before it.
		await runWorkers(this.#queue, this, { workers: 1, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(key: string): Promise<Outcome> {
		const service = this.#services.get(key);
		if (service === undefined) return SETTLED;
		if (this.#writes.isBehind(ALL, this.#services.asOf)) {
			return {
				kind: "recheck",
				afterMs: BEHIND_RECHECK_MS,
				why: "the cache of Services lacks this controller's write",
			};
		}
		const plan = planIngress(service, (ip) => this.#services.indexCount(BY_INGRESS_IP, ip) > 0);
		if (plan.kind === "give") await this.#give(key, service, plan.ingress);
		if (plan.kind === "full") this.#refuse(key, service, plan.range);
		return SETTLED;
	}

	async #give(key: string, service: Service, ingress: readonly LoadBalancerIngress[]): Promise<void> {
		this.#waiting.delete(key);
		this.#record(service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer");
		const status = { ...service.status, loadBalancer: { ingress } };
		const update = this.#ports.client.update(SERVICES, { ...service, status }, { subresource: "status" });
		const written = await ignoreNotFound(update);
		this.#writes.wrote(ALL, written?.metadata.resourceVersion);
		this.#record(service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer");
	}

	#refuse(key: string, service: Service, range: string): void {
		if (this.#waiting.has(key)) return;
		this.#waiting.add(key);
		const why = `every address of ${range} is taken: delete a Service of type LoadBalancer`;
		const message = `Error syncing load balancer: failed to ensure load balancer: ${why}`;
		this.#record(service, "Warning", "SyncLoadBalancerFailed", message);
	}

	#mayHaveFreed(old: Service, service: Service | undefined): void {
		const kept = service === undefined ? [] : ingressIPs(service);
		if (ingressIPs(old).every((ip) => kept.includes(ip))) return;
		for (const key of this.#waiting) this.#queue.add(key);
	}

	#record(object: Service, type: "Normal" | "Warning", reason: string, message: string): void {
		this.#ports.recorder.record({ component: COMPONENT, resource: SERVICES, object, type, reason, message });
	}
}

function ingressIPs({ status }: Service): readonly string[] {
	return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
}
