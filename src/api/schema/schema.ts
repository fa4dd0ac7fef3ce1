/**
 * The shape of every message of the API, by name: `core.Service`, `meta.ObjectMeta`.
 *
 * One description serves decoding (JSON and protobuf), patching, server-side apply and OpenAPI. A
 * message is parsed when it is first asked for, so that starting costs nothing.
 */
import { assertDefined } from "../../kernel/assert.ts";
import { AUTHENTICATION, AUTHORIZATION } from "./messages/access.ts";
import { APIEXTENSIONS } from "./messages/apiextensions.ts";
import { APPS } from "./messages/apps.ts";
import { CORE_NODE } from "./messages/core-node.ts";
import { CORE_POD } from "./messages/core-pod.ts";
import { CORE_POD_STATUS } from "./messages/core-pod-status.ts";
import { CORE_SERVICE } from "./messages/core-service.ts";
import { CORE_SMALL } from "./messages/core-small.ts";
import { CORE_VOLUME } from "./messages/core-volume.ts";
import { META, RUNTIME } from "./messages/meta.ts";
import { RBAC } from "./messages/rbac.ts";
import { AUTOSCALING, COORDINATION, DISCOVERY, EVENTS, NETWORKING, POLICY } from "./messages/service-groups.ts";
import { type Field, type MessageText, parseFields, type Scalar, splitMessages } from "./notation.ts";

export interface Message {
	/** With its group: `core.ServicePort`. */
	readonly name: string;
	/** By JSON name; members of inline messages are here too. */
	readonly fields: ReadonlyMap<string, Field>;
	/** By number on the wire, where an inline message is one field. */
	readonly wireFields: ReadonlyMap<number, Field>;
	/** Has `kind` and `apiVersion` in JSON. */
	readonly isKind: boolean;
	/** Server-side apply takes it as one value. */
	readonly isAtomic: boolean;
	/** Fields that are written even when nobody gave them a value. */
	readonly nullWhenEmpty: readonly Field[];
	/** Fields that are always there: their zero value is written when they are not given. */
	readonly zeroWhenAbsent: readonly Field[];
}

const TEXTS: readonly (readonly [group: string, text: string])[] = [
	["meta", META],
	["runtime", RUNTIME],
	["core", CORE_SERVICE],
	["core", CORE_SMALL],
	["core", CORE_POD],
	["core", CORE_POD_STATUS],
	["core", CORE_VOLUME],
	["core", CORE_NODE],
	["apps", APPS],
	["discovery", DISCOVERY],
	["networking", NETWORKING],
	["coordination", COORDINATION],
	["events", EVENTS],
	["autoscaling", AUTOSCALING],
	["policy", POLICY],
	["authentication", AUTHENTICATION],
	["authorization", AUTHORIZATION],
	["apiextensions", APIEXTENSIONS],
	["rbac", RBAC],
];

/** The schema's short names of the API groups. Status and DeleteOptions belong to all of them. */
const SHORT_GROUPS: ReadonlyMap<string, string> = new Map([
	["", "core"],
	["apps", "apps"],
	["discovery.k8s.io", "discovery"],
	["networking.k8s.io", "networking"],
	["coordination.k8s.io", "coordination"],
	["events.k8s.io", "events"],
	["autoscaling", "autoscaling"],
	["policy", "policy"],
	["authentication.k8s.io", "authentication"],
	["authorization.k8s.io", "authorization"],
	["apiextensions.k8s.io", "apiextensions"],
	["rbac.authorization.k8s.io", "rbac"],
]);

const TYPE_META = "0 apiVersion string; 0 kind string";

let texts: ReadonlyMap<string, MessageText> | undefined;
const parsed = new Map<string, Message>();

/** @param name With its group, such as `core.Service`. Asking for a name that does not exist is a bug. */
export function messageOf(name: string): Message {
	const known = parsed.get(name);
	if (known !== undefined) return known;
	const message = parseMessage(name, assertDefined(textByName().get(name), `message ${name} in the schema`));
	parsed.set(name, message);
	return message;
}

export function messageNames(): readonly string[] {
	return [...textByName().keys()];
}

/** The message of a kind that may be the body of a request, or undefined when the schema has none. */
export function messageNameOf(group: string, kind: string): string | undefined {
	if (kind === "DeleteOptions" || kind === "Status") return `meta.${kind}`;
	const name = `${SHORT_GROUPS.get(group) ?? ""}.${kind}`;
	return textByName().get(name)?.isKind === true ? name : undefined;
}

/** The API group behind a short name: "" for `core` and what belongs to all groups. */
export function groupOf(shortGroup: string): string {
	for (const [group, short] of SHORT_GROUPS) if (short === shortGroup) return group;
	return "";
}

function textByName(): ReadonlyMap<string, MessageText> {
	texts ??= new Map(
		TEXTS.flatMap(([group, text]) => splitMessages(group, text)).map((text) => [`${text.group}.${text.name}`, text]),
	);
	return texts;
}

function parseMessage(name: string, text: MessageText): Message {
	const own = parseFields(text);
	const typeMeta = text.isKind ? parseFields({ ...text, fields: TYPE_META }) : [];
	const inJson = own.flatMap((field) => (field.isInline ? [...messageOf(field.messageName).fields.values()] : [field]));
	return {
		name,
		fields: new Map([...typeMeta, ...inJson].map((field) => [field.name, field])),
		wireFields: new Map(own.map((field) => [field.number, field])),
		isKind: text.isKind,
		isAtomic: text.isAtomic,
		nullWhenEmpty: inJson.filter((field) => field.isNullWhenEmpty),
		zeroWhenAbsent: inJson.filter(isZeroWhenAbsent),
	};
}

const WITH_ZERO: ReadonlySet<Scalar | "message"> = new Set(["string", "bool", "int32", "int64"]);

/** In the Go type such a field is no pointer and has no `omitempty`. */
function isZeroWhenAbsent({ shape, type, keepsZero, isRequired }: Field): boolean {
	return shape === "one" && isRequired && keepsZero && WITH_ZERO.has(type);
}
