/** From roles and bindings to what one user may do in one place, and the answer to a question. */
import { qualifiedPlural } from "../../api/status.ts";
import type { PolicyRule, RoleBinding, RoleRef, Subject } from "../../api/types/rbac.ts";
import type { Asker, Question } from "./question.ts";
import { ruleAllows } from "./rule-allows.ts";

/** Every role and binding, as of one revision. */
export interface AccessWorld {
	/** Undefined: there is no such role. */
	clusterRole(name: string): readonly PolicyRule[] | undefined;
	role(namespace: string, name: string): readonly PolicyRule[] | undefined;
	readonly clusterBindings: readonly RoleBinding[];
	bindings(namespace: string): readonly RoleBinding[];
}

export interface Grant {
	readonly rules: readonly PolicyRule[];
	/** `ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`. */
	readonly source: string;
}

export interface Grants {
	readonly grants: readonly Grant[];
	/** Of bindings to roles that are not there. */
	readonly problems: readonly string[];
}

/** @param namespace "": what holds at the cluster scope. */
export function grantsFor(world: AccessWorld, asker: Asker, namespace: string): Grants {
	const grants: Grant[] = [];
	const problems: string[] = [];
	const add = (binding: RoleBinding, place: string): void => {
		const subject = binding.subjects?.find((known) => isSubject(known, asker, place));
		if (subject === undefined) return;
		const rules = rulesOfRole(world, binding.roleRef, place);
		if (rules === undefined) problems.push(missingRole(binding.roleRef));
		else grants.push({ rules, source: sourceOf(binding, subject, place) });
	};
	for (const binding of world.clusterBindings) add(binding, "");
	if (namespace !== "") for (const binding of world.bindings(namespace)) add(binding, namespace);
	return { grants, problems };
}

/** @param namespace Of the binding. Undefined: there is no such role. */
export function rulesOfRole(
	world: AccessWorld,
	{ kind, name }: RoleRef,
	namespace: string,
): readonly PolicyRule[] | undefined {
	return kind === "ClusterRole" ? world.clusterRole(name) : world.role(namespace, name);
}

function missingRole({ kind, name }: RoleRef): string {
	const words = { group: "rbac.authorization.k8s.io", plural: kind.toLowerCase(), kind };
	return `${qualifiedPlural(words)} ${JSON.stringify(name)} not found`;
}

export function serviceAccountName(namespace: string, name: string): string {
	return `system:serviceaccount:${namespace}:${name}`;
}

function isSubject({ kind, name, namespace = "" }: Subject, asker: Asker, place: string): boolean {
	switch (kind) {
		case "User":
			return asker.name === name;
		case "Group":
			return asker.groups.includes(name);
		case "ServiceAccount": {
			const home = namespace === "" ? place : namespace;
			return home !== "" && asker.name === serviceAccountName(home, name);
		}
		default:
			return false;
	}
}

function sourceOf({ metadata, roleRef }: RoleBinding, subject: Subject, place: string): string {
	const binding =
		place === ""
			? `ClusterRoleBinding ${JSON.stringify(metadata.name)}`
			: `RoleBinding ${JSON.stringify(`${metadata.name}/${place}`)}`;
	const { kind, name, namespace = "" } = subject;
	const who = kind === "ServiceAccount" ? `${name}/${namespace === "" ? place : namespace}` : name;
	return `${binding} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${kind} ${JSON.stringify(who)}`;
}

export interface Decision {
	readonly allowed: boolean;
	/** For people; "" when there is nothing to say. */
	readonly reason: string;
}

export function decide({ grants, problems }: Grants, question: Question): Decision {
	for (const { rules, source } of grants) {
		for (const rule of rules) {
			if (ruleAllows(rule, question)) return { allowed: true, reason: `RBAC: allowed by ${source}` };
		}
	}
	const unique = [...new Set(problems)];
	if (unique.length === 0) return { allowed: false, reason: "" };
	const text = unique.length === 1 ? unique.join() : `[${unique.join(", ")}]`;
	return { allowed: false, reason: `RBAC: ${text}` };
}
