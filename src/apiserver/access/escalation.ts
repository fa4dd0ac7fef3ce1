/** Nobody gives rights that they do not have: what a write of a role or a binding must not do. */
import { forbiddenFor, notFound } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { ClusterRole, PolicyRule, RoleBinding } from "../../api/types/rbac.ts";
import { deepEqual } from "../../kernel/json.ts";
import { holdsAll, listText, type MissingRights, missingRights } from "../../plan/access/missing-rights.ts";
import type { ServerPorts, Target, User } from "../ports.ts";
import { MASTERS_GROUP } from "../users.ts";

const GROUP = "rbac.authorization.k8s.io";
const EVERYTHING: readonly PolicyRule[] = [
	{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
	{ verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * @param stored Absent: the object is new.
 * @throws {ApiError} `Forbidden`, or `NotFound` for a binding to a role that is not there.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
export function requireNoEscalation(
	ports: ServerPorts,
	target: Target,
	user: User,
	next: KubeObject,
	stored?: KubeObject,
): void {
	if (target.type.group !== GROUP || user.groups.includes(MASTERS_GROUP)) return;
	if (stored !== undefined && changesOnlyBookkeeping(next, stored)) return;
	// The entry's own decoder has read the objects.
	if (target.type.kind.endsWith("Binding")) requireHeldRole(ports, target, user, next as RoleBinding);
	else requireHeldRules(ports, target, user, next as ClusterRole, stored as ClusterRole | undefined);
}

/** What a garbage collector writes, who gives nobody anything. */
function changesOnlyBookkeeping(next: KubeObject, stored: KubeObject): boolean {
	const plain = ({ metadata, ...rest }: KubeObject): object => {
		const { ownerReferences: _o, finalizers: _f, managedFields: _m, resourceVersion: _r, ...kept } = metadata;
		return { ...rest, metadata: kept };
	};
	return deepEqual(plain(next), plain(stored));
}

function requireHeldRules(
	ports: ServerPorts,
	{ type, namespace }: Target,
	user: User,
	next: ClusterRole,
	stored: ClusterRole | undefined,
): void {
	const { name } = next.metadata;
	if (may(ports, user, "escalate", { plural: type.plural, namespace, name })) return;
	// Also when the rules stay: by a label, other roles may come to hold them.
	requireHeld(ports, { type, namespace }, user, name, next.rules ?? []);
	if (next.aggregationRule === undefined && stored?.aggregationRule === undefined) return;
	const { rules } = ports.authorizer.rules(user, namespace);
	if (holdsAll(rules, EVERYTHING)) return;
	throw forbiddenFor(type, name, "must have cluster-admin privileges to use the aggregationRule");
}

function requireHeldRole(ports: ServerPorts, { type, namespace }: Target, user: User, next: RoleBinding): void {
	const { roleRef } = next;
	const plural = roleRef.kind === "ClusterRole" ? "clusterroles" : "roles";
	if (may(ports, user, "bind", { plural, namespace, name: roleRef.name })) return;
	const rules = ports.authorizer.rulesOfRole(roleRef, namespace);
	// The validation of the object has more to say of a role of no kind.
	if (rules === undefined && roleRef.kind !== "ClusterRole" && roleRef.kind !== "Role") return;
	if (rules === undefined) throw notFound({ group: GROUP, plural, kind: roleRef.kind }, roleRef.name);
	requireHeld(ports, { type, namespace }, user, next.metadata.name, rules);
}

function may(
	{ authorizer }: ServerPorts,
	user: User,
	verb: "bind" | "escalate",
	object: { readonly plural: string; readonly namespace: string; readonly name: string },
): boolean {
	return authorizer.decide(user, { kind: "resource", verb, group: GROUP, ...object }).allowed;
}

function requireHeld(
	{ authorizer }: ServerPorts,
	{ type, namespace }: Pick<Target, "type" | "namespace">,
	user: User,
	name: string,
	wanted: readonly PolicyRule[],
): void {
	const { rules, problems } = authorizer.rules(user, namespace);
	const missing = missingRights(rules, wanted);
	if (missing.texts.length === 0 && !missing.isCut) return;
	const who = `user ${JSON.stringify(user.name)} (groups=${listText(user.groups)})`;
	const why = `${who} is attempting to grant RBAC permissions not currently held:\n${linesOf(missing).join("\n")}`;
	const also = problems.length === 0 ? "" : `; resolution errors: [${problems.join(", ")}]`;
	throw forbiddenFor(type, name, `${why}${also}`);
}

/** A real server lists all of them, however many. */
function linesOf({ texts, more, isCut }: MissingRights): readonly string[] {
	if (!isCut) return more === 0 ? texts : [...texts, `and ${more} more`];
	const rest = "the rules stand for too many rights to look at each of them: split the role into smaller ones";
	return [...texts, ...(more === 0 ? [] : [`and ${more} more`]), rest];
}
