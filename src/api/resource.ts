/**
 * A resource of the API as one table entry: routing, discovery, defaulting, validation and printing
 * all read it, so that a kind is added in one place.
 */
import type { ApplyShape } from "./apply/shape.ts";
import type { FieldError } from "./field-error.ts";
import type { Decoded, TypeMeta } from "./schema/decode.ts";
import type { SchemaProps } from "./structural/schema-props.ts";
import type { Scale } from "./types/autoscaling.ts";
import type { KubeObject, OwnerReference } from "./types/meta.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** Names a resource, and carries the type of its objects for clients. */
export interface Resource<T extends KubeObject = KubeObject> {
	/** "" is the core group. */
	readonly group: string;
	readonly version: string;
	readonly kind: string;
	readonly plural: string;
	readonly namespaced: boolean;
	/** Never set: it only ties `T` to the name. */
	readonly object?: T;
}

export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
	return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** What makes `metadata.generation` rise. Kinds with "never" have no generation at all. */
export type GenerationRule =
	| "never"
	| "spec"
	| "spec-or-annotations"
	| "all-but-metadata"
	| "all-but-metadata-or-labels";

/** Any method goes on to what answers. */
export function proxySubresource(kind: string): Subresource {
	const verbs = ["create", "delete", "get", "patch", "update"] as const;
	return { name: "proxy", kind: { group: "", version: "v1", kind }, verbs };
}

export interface Subresource {
	/** `status`, `scale`, `binding`, `eviction`, `finalize`. */
	readonly name: string;
	/** The kind of its body or, when it connects, of its options, when it is not the resource's own. */
	readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
	readonly verbs: readonly Verb[];
}

/** What the rules of a kind may know beside the object itself. */
export interface RuleContext {
	readonly nowMs: number;
}

export interface Column {
	readonly name: string;
	readonly type: "string" | "integer" | "number" | "boolean" | "date";
	/** `name` marks the column that kubectl prefixes with the kind; custom resources have formats of their own. */
	readonly format?: string;
	readonly description: string;
	/** 0 is always shown, more only with `-o wide`. */
	readonly priority?: number;
}

/** null where an object has nothing to show. */
export type Cell = string | number | boolean | null;

export interface Table<T> {
	readonly columns: readonly Column[];
	/** Aligned with `columns`; `nowMs` is wall time, for ages. */
	cells(object: T, nowMs: number): readonly Cell[];
	/** Extra conditions of a row, such as Completed of a finished Pod. */
	rowConditions?(object: T): readonly { type: string; status: string; reason: string; message: string }[];
}

/**
 * The rules of one kind. All of them are pure: they take frozen objects and return new ones.
 * Objects have the shape that the kind's schema promises: decoding has checked it.
 */
export interface Rules<T extends KubeObject> {
	/** Fills in defaults; called on every write, before anything else looks at the object. */
	withDefaults(object: T): T;
	/** The object as it is created: status reset, finalizers of the kind added, and so on. */
	prepareCreate(object: T, context: RuleContext): T;
	/** The object as the main resource may change it: the stored status is kept, and so on. */
	prepareUpdate(next: T, stored: T): T;
	/** The object as `/status` may change it: the stored spec is kept. Absent: no status subresource. */
	prepareStatusUpdate?(next: T, stored: T): T;
	/** Errors of the kind's own fields on create; shared metadata is checked elsewhere. */
	validate(object: T): readonly FieldError[];
	/** All errors of an update: those of the object, and those of what it may not change. */
	validateUpdate(next: T, stored: T): readonly FieldError[];
	validateStatusUpdate?(next: T, stored: T): readonly FieldError[];
	/** Warning headers of a write that goes through; `stored` is absent on create. */
	warnings(object: T, stored: T | undefined): readonly string[];
	/** Values of the field selectors that the kind has beside metadata.name and metadata.namespace. */
	fields(object: T): Readonly<Record<string, string>>;
}

export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

/** How objects of a resource are stored that is another resource's in newer words. Both ways are pure. */
export interface StoredForm<T extends KubeObject, S extends KubeObject = KubeObject> {
	fromStored(object: S): T;
	toStored(object: T): S;
}

/** How a kind that says by paths where its size is has a `scale` subresource. */
export interface ScaleRules {
	/** @throws {ApiError} `InternalError` when the object has no size to tell. */
	read(object: KubeObject): Scale;
	write(object: KubeObject, scale: Scale): KubeObject;
}

/** What makes a resource a custom one: one that a CustomResourceDefinition made. */
export interface CustomResource {
	/** Objects are pruned, defaulted, validated and applied by it. It is structural. */
	readonly schema: SchemaProps;
	/** The list's kind, which need not end in `List`. */
	readonly listKind: string;
	/** The definition is being deleted: nothing new can be made. */
	readonly isTerminating: boolean;
}

/** One entry of the table of resources. */
export interface ResourceType<T extends KubeObject = KubeObject> extends Resource<T>, Rules<T> {
	readonly singular: string;
	readonly shortNames: readonly string[];
	readonly categories: readonly string[];
	readonly verbs: readonly Verb[];
	readonly subresources: readonly Subresource[];
	/** `/registry/services/specs/`: where a real API server keeps its objects in etcd. */
	readonly storagePrefix: string;
	/** Absent: objects are stored as they are shown. */
	readonly storedForm?: StoredForm<T>;
	/** The kind's message in the schema, such as `core.Service`; "" for custom resources. */
	readonly schema: string;
	/** Absent: a built-in kind. */
	readonly custom?: CustomResource;
	/** Reads the body of a request where the message of the schema does not say it all. */
	readonly decode?: (body: unknown, expected: TypeMeta) => Decoded;
	/** Absent: the kind has no `scale`, or is a workload. */
	readonly scale?: ScaleRules;
	/** How server-side apply sees the kind. Absent: as its message says. The same shape every time. */
	applyShape?(): ApplyShape;
	/** Paths, beside `spec`, that a write of the status leaves as they are. */
	readonly keptByStatus?: readonly (readonly string[])[];
	/** Why a name is wrong, one text per broken rule; `isPrefix` for generateName. */
	readonly nameProblems: NameRule;
	/** Finalizers need not be fully qualified. */
	readonly hasFreeFinalizers?: boolean;
	readonly generation: GenerationRule;
	/** PUT of a missing name creates it. */
	readonly createOnUpdate: boolean;
	/** PUT without resourceVersion is allowed. */
	readonly unconditionalUpdate: boolean;
	/** What a finished DELETE answers. */
	readonly deleteAnswers: "object" | "status";
	/** Field selectors beside metadata.name and metadata.namespace. */
	readonly fieldLabels: readonly string[];
	/** Said with every request to the resource, reads included. */
	readonly deprecation?: string;
	readonly table: Table<T>;
}

/** Erases the kind's own type, so that entries of different kinds fit one table. */
export function defineResource<T extends KubeObject>(type: ResourceType<T>): ResourceType {
	// The API server hands an entry only objects that were decoded by the entry's own schema.
	return type as ResourceType<KubeObject> & ResourceType<T>;
}

export const ALL_VERBS: readonly Verb[] = [
	"create",
	"delete",
	"deletecollection",
	"get",
	"list",
	"patch",
	"update",
	"watch",
];

export const STATUS_SUBRESOURCE: Subresource = { name: "status", verbs: ["get", "patch", "update"] };

export const SCALE_SUBRESOURCE: Subresource = {
	name: "scale",
	kind: { group: "autoscaling", version: "v1", kind: "Scale" },
	verbs: ["get", "patch", "update"],
};

/** `namespace/name`, or `name` for cluster-scoped objects: the key of caches and work queues. */
export function keyOf(object: KubeObject): string {
	const { namespace, name } = object.metadata;
	return namespace === undefined ? name : `${namespace}/${name}`;
}

export interface ObjectKey {
	/** "" for cluster-scoped objects. */
	readonly namespace: string;
	readonly name: string;
}

export function splitKey(key: string): ObjectKey {
	const slash = key.indexOf("/");
	return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The reference with `controller: true`; an object has at most one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
	return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}
