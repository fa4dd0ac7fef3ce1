/** Who may do what: RBAC over the roles and bindings that are stored, and `system:masters`, who may do everything. */
import type { ResourceType } from "../../api/resource.ts";
import { ApiError, forbiddenFor } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { ClusterRole, PolicyRule, RoleBinding, RoleRef } from "../../api/types/rbac.ts";
import {
	type AccessWorld,
	type Decision,
	decide,
	type Grants,
	grantsFor,
	rulesOfRole,
} from "../../plan/access/grants.ts";
import type { Question } from "../../plan/access/question.ts";
import type { Revision } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";
import type { User } from "../ports.ts";
import { MASTERS_GROUP } from "../users.ts";

export interface Access {
	readonly verb: string;
	/** Need not be served: whoever may see nothing is not told what there is. */
	readonly type: Pick<ResourceType, "group" | "plural" | "kind">;
	readonly namespace: string;
	readonly name: string;
	readonly subresource?: string | undefined;
}

const CLUSTER_ROLES = "/registry/clusterroles/";
const CLUSTER_ROLE_BINDINGS = "/registry/clusterrolebindings/";
const ROLES = "/registry/roles/";
const ROLE_BINDINGS = "/registry/rolebindings/";
const SPACES = [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS];

/** Health must answer whoever asks, whatever the roles say. */
const ALWAYS_OPEN: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);
/** Users and places whose rights are kept ready; beyond, they are found anew. */
const KEPT_MAX = 1_000;

export class Authorizer {
	readonly #world: AccessWorld;
	/** By user and namespace; forgotten whenever a role or a binding is written. */
	readonly #kept = new Map<string, Grants>();
	#asOf: Revision;

	constructor(store: Store) {
		this.#world = storedWorld(store);
		this.#asOf = store.revision;
		// Before anybody learns that a write is done, what it takes away is gone.
		store.onCommit((spaces) => {
			if (!SPACES.some((space) => spaces.has(space))) return;
			this.#kept.clear();
			this.#asOf = store.revision;
		});
	}

	/** The last write that changed who may do what. */
	get asOf(): Revision {
		return this.#asOf;
	}

	decide(user: User, question: Question): Decision {
		if (user.groups.includes(MASTERS_GROUP)) return { allowed: true, reason: "" };
		if (question.kind === "path") {
			if (ALWAYS_OPEN.has(question.path)) return { allowed: true, reason: "" };
			return decide(this.#grants(user, ""), question);
		}
		return decide(this.#grants(user, question.namespace), question);
	}

	/** Every rule that holds for the user in a namespace, and what kept others from being found. */
	rules(
		user: User,
		namespace: string,
	): { readonly rules: readonly PolicyRule[]; readonly problems: readonly string[] } {
		const { grants, problems } = this.#grants(user, namespace);
		return { rules: grants.flatMap(({ rules }) => rules), problems };
	}

	/** Undefined: there is no such role. */
	rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
		return rulesOfRole(this.#world, roleRef, namespace);
	}

	/** @throws {ApiError} `Forbidden` */
	authorize(user: User, { verb, type, name, subresource, ...access }: Access): void {
		const { group, plural } = type;
		// A namespace is a thing of its own place: who may read all in it may read it, but not list it.
		const isPlace = group === "" && plural === "namespaces" && name !== "" && verb !== "list" && verb !== "watch";
		const namespace = isPlace ? name : access.namespace;
		const question = { kind: "resource", verb, group, plural, subresource, namespace, name } as const;
		const { allowed, reason } = this.decide(user, question);
		if (allowed) return;
		const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
		const place = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
		const why = `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
		throw forbiddenFor(type, name, withReason(why, reason));
	}

	/** @throws {ApiError} `Forbidden` */
	authorizePath(user: User, verb: string, path: string): void {
		const { allowed, reason } = this.decide(user, { kind: "path", verb, path });
		if (allowed) return;
		const why = `forbidden: User "${user.name}" cannot ${verb} path "${path}"`;
		throw new ApiError("Forbidden", withReason(why, reason), { details: {} });
	}

	#grants(user: User, namespace: string): Grants {
		const key = JSON.stringify([namespace, user.name, ...user.groups]);
		const known = this.#kept.get(key);
		if (known !== undefined) return known;
		const found = grantsFor(this.#world, user, namespace);
		if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
		this.#kept.set(key, found);
		return found;
	}
}

function withReason(why: string, reason: string): string {
	return reason === "" ? why : `${why}: ${reason}`;
}

/** The objects of a space are of its kind: its decoder has read them. */
function storedWorld(store: Store): AccessWorld {
	const all = (space: string, prefix: string): readonly KubeObject[] => {
		const found = store.space(space).range({ prefix });
		return found.kind === "range" ? found.entries.map(({ object }) => object) : [];
	};
	const rulesIn = (space: string, key: string): readonly PolicyRule[] | undefined => {
		const role = store.space(space).get(key)?.object as ClusterRole | undefined;
		return role === undefined ? undefined : (role.rules ?? []);
	};
	return {
		clusterRole: (name) => rulesIn(CLUSTER_ROLES, name),
		role: (namespace, name) => rulesIn(ROLES, `${namespace}/${name}`),
		get clusterBindings() {
			return all(CLUSTER_ROLE_BINDINGS, "") as readonly RoleBinding[];
		},
		bindings: (namespace) => all(ROLE_BINDINGS, `${namespace}/`) as readonly RoleBinding[],
	};
}
