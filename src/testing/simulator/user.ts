/** Who changes the cluster: what all kinds of changes have in common. */
import type { ObjectKey, Resource } from "../../api/resource.ts";
import { NAMESPACES } from "../../api/resource-names.ts";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import { ApiError } from "../../api/status.ts";
import type { Namespace } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { assertDefined } from "../../kernel/assert.ts";
import type { ApiClient } from "../../machinery/api-client.ts";
import type { VirtualClock } from "../virtual-clock.ts";
import type { ClusterModel } from "./cluster-model.ts";
import type { Dice } from "./dice.ts";
import type { Tampering } from "./tampering.ts";
import type { Verdict } from "./verdict.ts";

export interface UserPorts {
	readonly client: ApiClient;
	readonly clock: VirtualClock;
	readonly model: ClusterModel;
	readonly dice: Dice;
	readonly verdict: Verdict;
	readonly tampering: Tampering;
	/** What the user does, for the history. */
	did(text: string): void;
}

export const USER_NAMESPACES = ["default", "blue", "red"] as const;
/** Few names, so that what is deleted is made anew. */
export const SERVICE_NAMES = ["web", "api", "db", "ext"] as const;
export const LABELS = { app: ["web", "api", "db"], tier: ["front", "back"] } as const;

/** A user may be told of these by another one's doing. */
const EXPECTED: ReadonlySet<string> = new Set(["AlreadyExists", "Conflict", "Forbidden", "Invalid", "NotFound"]);

export class User {
	readonly ports: UserPorts;

	constructor(ports: UserPorts) {
		this.ports = ports;
	}

	get dice(): Dice {
		return this.ports.dice;
	}

	get client(): ApiClient {
		return this.ports.client;
	}

	/** What there is of the resource, as of now. */
	all<T extends KubeObject>(resource: Resource<T>): readonly T[] {
		// A resource's objects are of its type: its schema decoded them.
		return [...this.ports.model.space(typeOf(resource)).current.values()] as T[];
	}

	any<T extends KubeObject>(resource: Resource<T>, where: (object: T) => boolean = () => true): T | undefined {
		return this.dice.any(this.all(resource).filter((object) => isUsers(object) && where(object)));
	}

	find<T extends KubeObject>(resource: Resource<T>, key: string): T | undefined {
		return this.ports.model.space(typeOf(resource)).current.get(key) as T | undefined;
	}

	/** One that is not being deleted, mostly. */
	namespace(): string {
		const alive = this.all<Namespace>(NAMESPACES).filter(({ metadata: { name } }) =>
			USER_NAMESPACES.some((known) => known === name),
		);
		return this.dice.any(alive)?.metadata.name ?? "default";
	}

	/** Carries out a write; a refusal is the server's good right. Returns the answer, or undefined when refused. */
	async tries<R>(what: string, write: () => Promise<R>): Promise<R | undefined> {
		try {
			const answer = await write();
			this.ports.did(what);
			return answer;
		} catch (error) {
			const reason = error instanceof ApiError ? error.reason : String(error);
			this.ports.did(`${what}: ${reason}`);
			if (!EXPECTED.has(reason)) this.ports.verdict.broke("answered", `${what}: ${error}`);
			return undefined;
		}
	}

	/** Merges `body` into the object. */
	async patch<T extends KubeObject>(resource: Resource<T>, object: T, body: object): Promise<void> {
		const patch = { type: "merge", body } as const;
		const what = `user patch ${resource.plural} ${textOf(object)} ${JSON.stringify(body)}`;
		await this.tries(what, () => this.client.patch(resource, placeOf(object), patch));
	}

	async delete<T extends KubeObject>(resource: Resource<T>, object: T, options: object = {}): Promise<void> {
		const what = `user delete ${resource.plural} ${textOf(object)} ${JSON.stringify(options)}`;
		await this.tries(what, () => this.client.delete(resource, placeOf(object), options));
	}
}

export function placeOf({ metadata: { namespace = "", name } }: KubeObject): ObjectKey {
	return { namespace, name };
}

function textOf({ metadata: { namespace, name } }: KubeObject): string {
	return namespace === undefined ? name : `${namespace}/${name}`;
}

function typeOf(resource: Resource): { readonly storagePrefix: string } {
	return assertDefined(
		RESOURCE_TYPES.find(({ plural, group }) => plural === resource.plural && group === resource.group),
		`type of ${resource.plural}`,
	);
}

/** What the plane itself keeps is left alone. */
function isUsers({ metadata: { namespace, name } }: KubeObject): boolean {
	return !(namespace ?? "").startsWith("kube-") && name !== "kubernetes";
}
