/** Keeps the rules of ClusterRoles that take them from others: `admin`, `edit`, `view`. */
import { CLUSTER_ROLES } from "../api/resource-names.ts";
import type { ClusterRole } from "../api/types/rbac.ts";
import { deepEqual } from "../kernel/json.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { aggregatedRules } from "../plan/access/aggregate.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

export class ClusterRoleAggregationController implements Controller, Reconciler {
	readonly name = "clusterrole-aggregation-controller";
	readonly #ports: ControllerPorts;
	readonly #roles: Informer<ClusterRole>;
	readonly #queue: WorkQueue<string>;

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#roles = ports.informers.of(CLUSTER_ROLES);
		this.#queue = ports.queues.make({ name: "ClusterRoleAggregator" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		const seeAll = (): void => {
			for (const { metadata, aggregationRule } of this.#roles.list()) {
				if (aggregationRule !== undefined) this.#queue.add(metadata.name);
			}
		};
		this.#roles.addHandlers({ added: seeAll, updated: seeAll, deleted: seeAll });
		await this.#roles.whenSynced(signal).catch(() => undefined);
		// One worker: a role may take from one that was just filled.
		await runWorkers(this.#queue, this, { workers: 1, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(name: string): Promise<Outcome> {
		const role = this.#roles.get(name);
		if (role === undefined) return SETTLED;
		const rules = aggregatedRules(role, this.#roles.list());
		if (rules === undefined || deepEqual(rules, role.rules ?? [])) return SETTLED;
		await ignoreNotFound(this.#ports.client.update(CLUSTER_ROLES, { ...role, rules }));
		return SETTLED;
	}
}
