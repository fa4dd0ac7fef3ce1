/**
 * Brings definitions forward: accepts their names, and when one is being deleted removes its objects first.
 *
 * It belongs to the API server, not to the controllers: a client that has the API alone can define resources. It does
 * nothing by itself, only in answer to commits.
 */
import { CUSTOM_RESOURCE_DEFINITION } from "../../api/kinds/custom-resource-definition.ts";
import type { ResourceType } from "../../api/resource.ts";
import { hasReason } from "../../api/status.ts";
import { acceptedStatus, condition, withCondition } from "../../api/structural/accepted-names.ts";
import { spaceOf } from "../../api/structural/custom-type.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from "../../api/types/apiextensions.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { RequestContext, ServerPorts, Target } from "../ports.ts";
import { PLAIN_WRITE } from "../ports.ts";
import { timestamp } from "../timestamp.ts";
import { deleteObject } from "../verbs/delete.ts";
import { applyUpdate } from "../verbs/update.ts";
import { type CustomTypes, definitionsOf } from "./custom-types.ts";

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
const SPACE: string = CUSTOM_RESOURCE_DEFINITION.storagePrefix;
const CONTEXT: RequestContext = {
	user: { name: "system:apiserver", groups: ["system:masters"] },
	warn: () => undefined,
	manager: "kube-apiserver",
};

export class DefinitionFollower {
	readonly #ports: ServerPorts;
	readonly #types: CustomTypes;
	/** Spaces that must become empty before their definition may go. */
	readonly #emptying = new Set<string>();
	#isDirty = false;
	#isWorking = false;

	constructor(ports: ServerPorts, types: CustomTypes) {
		this.#ports = ports;
		this.#types = types;
		ports.store.onCommit((spaces) => {
			if (spaces.has(SPACE) || [...this.#emptying].some((space) => spaces.has(space))) this.#wake();
		});
		if (definitionsOf(ports.store).length > 0) this.#wake();
	}

	#wake(): void {
		this.#isDirty = true;
		if (this.#isWorking) return;
		this.#isWorking = true;
		void this.#work();
	}

	async #work(): Promise<void> {
		// Whoever committed goes on first.
		await Promise.resolve();
		while (this.#isDirty) {
			this.#isDirty = false;
			for (const { metadata } of definitionsOf(this.#ports.store)) await this.#bring(metadata.name);
		}
		this.#isWorking = false;
	}

	async #bring(name: string): Promise<void> {
		try {
			const definition = this.#definition(name);
			if (definition === undefined) return;
			if (definition.metadata.deletionTimestamp === undefined) await this.#accept(definition);
			else if (definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)) await this.#remove(definition);
		} catch (error) {
			if (hasReason(error, "NotFound") || hasReason(error, "Conflict")) return;
			this.#ports.log.error("Failed to bring a CustomResourceDefinition forward", { name, error });
		}
	}

	#definition(name: string): CustomResourceDefinition | undefined {
		return this.#ports.store.space(SPACE).get(name)?.object as CustomResourceDefinition | undefined;
	}

	async #accept(definition: CustomResourceDefinition): Promise<void> {
		const others = definitionsOf(this.#ports.store).filter(
			({ metadata }) => metadata.name !== definition.metadata.name,
		);
		const next = acceptedStatus(definition, others, this.#now());
		if (next !== definition.status) await this.#writeStatus(definition, next);
	}

	async #remove(definition: CustomResourceDefinition): Promise<void> {
		const { store } = this.#ports;
		const { name } = definition.metadata;
		const space = spaceOf(definition.spec);
		const [type] = this.#types.list.filter((each) => each.storagePrefix === space);
		this.#emptying.add(space);
		if (type !== undefined && store.space(space).size > 0) {
			const why = "CustomResource deletion is in progress";
			await this.#terminating(name, "True", "InstanceDeletionInProgress", why);
			await this.#deleteAll(type);
			// Finalizers hold what is left: the commits that free it come back here.
			if (store.space(space).size > 0) return;
		}
		this.#emptying.delete(space);
		if (type !== undefined)
			await this.#terminating(name, "False", "InstanceDeletionCompleted", "removed all instances");
		else await this.#terminating(name, "False", "NeverEstablished", "resource was never established");
		await this.#release(name);
	}

	async #deleteAll(type: ResourceType): Promise<void> {
		const range = this.#ports.store.space(type.storagePrefix).range({ prefix: "" });
		const entries = range.kind === "range" ? range.entries : [];
		for (const { object } of entries) {
			const { namespace = "", name, deletionTimestamp } = object.metadata;
			if (deletionTimestamp !== undefined) continue;
			await deleteObject(this.#ports, { type, namespace, name }, { dryRun: false }).catch((error: unknown) => {
				if (!hasReason(error, "NotFound")) throw error;
			});
		}
	}

	async #terminating(name: string, status: "True" | "False", reason: string, message: string): Promise<void> {
		const definition = this.#definition(name);
		if (definition === undefined) return;
		const known = definition.status?.conditions?.find(({ type }) => type === "Terminating");
		if (known?.status === status && known.reason === reason) return;
		const next = condition("Terminating", status, reason, message, this.#now());
		await this.#writeStatus(definition, withCondition(definition.status ?? {}, next));
	}

	/** The objects are gone: the finalizer goes, and with the last one the definition. */
	async #release(name: string): Promise<void> {
		const definition = this.#definition(name);
		if (definition === undefined) return;
		const { finalizers = [], ...metadata } = definition.metadata;
		const others = finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
		const next = { ...definition, metadata: others.length === 0 ? metadata : { ...metadata, finalizers: others } };
		await this.#write(next, PLAIN_WRITE);
	}

	#writeStatus(definition: CustomResourceDefinition, status: CustomResourceDefinitionStatus): Promise<void> {
		const next: CustomResourceDefinition = { ...definition, status };
		return this.#write(next, { ...PLAIN_WRITE, subresource: "status" });
	}

	async #write(object: KubeObject, flags: Parameters<typeof applyUpdate>[4]): Promise<void> {
		const { name } = object.metadata;
		const stored = this.#ports.store.space(SPACE).get(name);
		if (stored === undefined) return;
		const target: Target = { type: CUSTOM_RESOURCE_DEFINITION, namespace: "", name };
		await applyUpdate(this.#ports, target, stored, object, flags, CONTEXT);
	}

	#now(): string {
		return timestamp(this.#ports.clock.wallMs());
	}
}
