/** Secret: named bytes for pods, with a type that says which names must be there. */
import { isObject, ownValue, setOwn, without } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { Secret } from "../types/core.ts";
import type { StringMap } from "../types/meta.ts";
import { AGE_COLUMN, column, NAME_COLUMN } from "./cells.ts";
import { base64Bytes, nonEmpty, validateDataSize, validateFrozen, validateKeys } from "./data-keys.ts";

const OPAQUE = "Opaque";

export const SECRET: ResourceType = defineResource<Secret>({
	group: "",
	version: "v1",
	kind: "Secret",
	plural: "secrets",
	singular: "secret",
	namespaced: true,
	shortNames: [],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/secrets/",
	schema: "core.Secret",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: ["type"],
	table: {
		columns: [
			NAME_COLUMN,
			column("Type", "What the secret is for, as its programs know it."),
			column("Data", "How many values it holds."),
			AGE_COLUMN,
		],
		cells: ({ metadata, type, data }, nowMs) => [
			metadata.name,
			type ?? "",
			Object.keys(data ?? {}).length,
			age(nowMs, metadata.creationTimestamp),
		],
	},
	withDefaults,
	prepareCreate: (secret) => ({ ...secret, type: secret.type || OPAQUE }),
	/** A writer that names no type means the one that it has. */
	prepareUpdate: (next, stored) => ({ ...next, type: next.type || stored.type || OPAQUE }),
	validate,
	validateUpdate: (next, stored) => [
		...(next.type === stored.type ? [] : [invalid("type", next.type, "field is immutable")]),
		...validateFrozen(next, stored),
		...validate(next),
	],
	warnings: () => [],
	fields: ({ type = "" }) => ({ type }),
});

function withDefaults(secret: Secret): Secret {
	return {
		...without(secret, "data", "stringData"),
		...nonEmpty("data", withStringData(secret.data, secret.stringData)),
	};
}

/** `stringData` wins over `data`. */
function withStringData(data: StringMap | undefined, stringData: StringMap | undefined): StringMap | undefined {
	if (stringData === undefined) return data;
	const merged: Record<string, string> = { ...data };
	for (const [key, text] of Object.entries(stringData)) setOwn(merged, key, base64Of(text));
	return merged;
}

const encoder = new TextEncoder();

function base64Of(text: string): string {
	let binary = "";
	for (const byte of encoder.encode(text)) binary += String.fromCharCode(byte);
	return btoa(binary);
}

function validate(secret: Secret): readonly FieldError[] {
	return [
		...validateKeys("data", secret.data),
		...validateDataSize("data", base64Bytes(secret.data)),
		...validateForType(secret),
	];
}

function validateForType({ type, data = {}, metadata }: Secret): readonly FieldError[] {
	const missing = (...keys: readonly string[]): readonly FieldError[] =>
		keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`, ""));
	switch (type) {
		case "kubernetes.io/service-account-token": {
			const key = "kubernetes.io/service-account.name";
			return metadata.annotations?.[key] ? [] : [required(`metadata.annotations[${key}]`, "")];
		}
		case "kubernetes.io/dockercfg":
			return validateJson(data, ".dockercfg");
		case "kubernetes.io/dockerconfigjson":
			return validateJson(data, ".dockerconfigjson");
		case "kubernetes.io/basic-auth": {
			const errors = missing("username", "password");
			return errors.length === 2 ? errors : [];
		}
		case "kubernetes.io/ssh-auth":
			return data["ssh-privatekey"] ? [] : [required("data[ssh-privatekey]", "")];
		case "kubernetes.io/tls":
			return missing("tls.crt", "tls.key");
		default:
			return [];
	}
}

/** The contents are not shown: they are secret. */
function validateJson(data: StringMap, key: string): readonly FieldError[] {
	const text = ownValue(data, key);
	if (typeof text !== "string") return [required(`data[${key}]`, "")];
	try {
		if (isObject(JSON.parse(decoded(text)))) return [];
		return [invalid(`data[${key}]`, "<secret contents redacted>", "want a JSON object")];
	} catch (error) {
		const why = error instanceof SyntaxError && text !== "" ? "invalid JSON" : "unexpected end of JSON input";
		return [invalid(`data[${key}]`, "<secret contents redacted>", why)];
	}
}

function decoded(base64: string): string {
	const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
	return new TextDecoder().decode(bytes);
}
