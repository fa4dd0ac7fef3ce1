/** `paths` of an OpenAPI document: the operations on each resource. */
import type { ResourceType, Subresource, Verb } from "../resource.ts";
import { messageNameOf } from "../schema/schema.ts";
import { customModelName } from "./custom-models.ts";
import {
	DELETE_PARAMETERS,
	FORCE,
	LIST_PARAMETERS,
	NAME,
	NAMESPACE,
	type Parameter,
	PRETTY,
	PROXY_PATH,
	WRITE_PARAMETERS,
} from "./parameters.ts";
import { type GroupVersionKind, reference, schemaName } from "./schema-names.ts";

export type DocumentedResource = Pick<
	ResourceType,
	"group" | "version" | "kind" | "plural" | "namespaced" | "schema" | "verbs" | "subresources" | "custom"
>;

type PathItem = Readonly<Record<string, unknown>>;

interface Method {
	readonly method: "get" | "post" | "put" | "patch" | "delete";
	readonly action: string;
	readonly parameters: readonly Parameter[];
	readonly takesBody?: boolean;
	readonly answers: "object" | "list" | "status";
}

const LIST: Method = { method: "get", action: "list", parameters: LIST_PARAMETERS, answers: "list" };

const COLLECTION_METHODS: readonly (readonly [Verb, Method])[] = [
	["list", LIST],
	["create", { method: "post", action: "post", parameters: WRITE_PARAMETERS, takesBody: true, answers: "object" }],
	[
		"deletecollection",
		{
			method: "delete",
			action: "deletecollection",
			parameters: [...LIST_PARAMETERS, ...DELETE_PARAMETERS],
			answers: "status",
		},
	],
];

/**
 * A patch names no body: with one that lists `application/strategic-merge-patch+json`, kubectl computes its
 * patches from this document instead of its own types, and any gap here would lose data.
 */
const ITEM_METHODS: readonly (readonly [Verb, Method])[] = [
	["get", { method: "get", action: "get", parameters: [], answers: "object" }],
	["update", { method: "put", action: "put", parameters: WRITE_PARAMETERS, takesBody: true, answers: "object" }],
	["patch", { method: "patch", action: "patch", parameters: [...WRITE_PARAMETERS, FORCE], answers: "object" }],
	["delete", { method: "delete", action: "delete", parameters: DELETE_PARAMETERS, answers: "status" }],
];

const SUBRESOURCE_METHODS: readonly (readonly [Verb, Method])[] = [
	...ITEM_METHODS.filter(([verb]) => verb !== "delete"),
	...COLLECTION_METHODS.filter(([verb]) => verb === "create"),
];

/** What an operation is about: the resource's own kind, or that of its subresource. */
interface Subject {
	readonly gvk: GroupVersionKind;
	/** The name of its schema in the document; undefined for bodies without one, such as streams. */
	readonly model: string | undefined;
	readonly id: string;
	readonly tag: string;
}

export function pathsOf(prefix: string, resources: readonly DocumentedResource[]): Record<string, PathItem> {
	const paths: Record<string, PathItem> = {};
	for (const resource of resources) Object.assign(paths, resourcePaths(prefix, resource));
	return paths;
}

function resourcePaths(prefix: string, resource: DocumentedResource): Record<string, PathItem> {
	const { plural, namespaced, verbs } = resource;
	const collection = namespaced ? `${prefix}/namespaces/{namespace}/${plural}` : `${prefix}/${plural}`;
	const item = `${collection}/{name}`;
	const inNamespace = namespaced ? [NAMESPACE] : [];
	const subject = subjectOf(resource);
	const everywhere = { ...subject, id: `${subject.id}ForAllNamespaces` };
	return {
		...(namespaced ? { [`${prefix}/${plural}`]: pathItem([["list", LIST]], verbs, everywhere, []) } : {}),
		[collection]: pathItem(COLLECTION_METHODS, verbs, subject, inNamespace),
		[item]: pathItem(ITEM_METHODS, verbs, subject, [NAME, ...inNamespace]),
		...Object.fromEntries(
			resource.subresources.map((sub) => [
				`${item}/${sub.name}`,
				subresourceItem(resource, sub, [NAME, ...inNamespace]),
			]),
		),
		...(resource.subresources.some((sub) => sub.name === "proxy")
			? { [`${item}/proxy/{path}`]: { parameters: [NAME, ...inNamespace, PROXY_PATH] } }
			: {}),
	};
}

function subresourceItem(resource: DocumentedResource, sub: Subresource, inPath: readonly Parameter[]): PathItem {
	const own = subjectOf(resource);
	const gvk = sub.kind ?? own.gvk;
	const message = sub.kind === undefined ? undefined : messageNameOf(gvk.group, gvk.kind);
	const model = sub.kind === undefined ? own.model : message === undefined ? undefined : schemaName(message);
	const id = own.id + capitalized(sub.name);
	return pathItem(SUBRESOURCE_METHODS, sub.verbs, { ...own, gvk, model, id }, inPath);
}

function subjectOf(resource: DocumentedResource): Subject {
	const { group, version, kind } = resource;
	const short = group === "" ? "core" : group.replace(/\..*$/, "");
	const scope = resource.namespaced ? "Namespaced" : "";
	const id = `${capitalized(short)}${capitalized(version)}${scope}${kind}`;
	const model = resource.custom === undefined ? schemaName(resource.schema) : customModelName(resource);
	return { gvk: { group, version, kind }, model, id, tag: `${short}_${version}` };
}

function capitalized(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}

function pathItem(
	methods: readonly (readonly [Verb, Method])[],
	verbs: readonly Verb[],
	subject: Subject,
	inPath: readonly Parameter[],
): PathItem {
	const served = methods.filter(([verb]) => verbs.includes(verb));
	return {
		...Object.fromEntries(served.map(([, method]) => [method.method, operation(method, subject)])),
		parameters: [...inPath, PRETTY],
	};
}

function operation(method: Method, subject: Subject): PathItem {
	const body = subject.model === undefined ? {} : reference(subject.model);
	const answer = { description: "OK", content: { "application/json": { schema: answerSchema(method, subject) } } };
	return {
		tags: [subject.tag],
		operationId: `${method.action}${subject.id}`,
		parameters: method.parameters,
		...(method.takesBody ? { requestBody: { required: true, content: { "*/*": { schema: body } } } } : {}),
		responses: { "200": answer, "401": { description: "Unauthorized" } },
		"x-kubernetes-action": method.action,
		"x-kubernetes-group-version-kind": subject.gvk,
	};
}

function answerSchema(method: Method, subject: Subject): PathItem {
	if (method.answers === "status") return reference(schemaName("meta.Status"));
	if (subject.model === undefined) return {};
	return reference(subject.model + (method.answers === "list" ? "List" : ""));
}
