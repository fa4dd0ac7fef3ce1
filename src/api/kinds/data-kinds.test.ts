import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { ControllerRevision } from "../types/apps.ts";
import type { ConfigMap, Secret } from "../types/core.ts";
import { CONFIG_MAP } from "./config-map.ts";
import { CONTROLLER_REVISION } from "./controller-revision.ts";
import { SECRET } from "./secret.ts";

const KEY_TEXT =
	"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  " +
	"or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

describe("ConfigMap", () => {
	const map = (parts: Partial<ConfigMap>): ConfigMap =>
		CONFIG_MAP.withDefaults({ apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf("x"), ...parts } as ConfigMap);

	test.each<{ rule: string; parts: Partial<ConfigMap>; errors: readonly string[] }>([
		{
			rule: "keys are names of files",
			parts: { data: { "a/b": "" } },
			errors: [`data[a/b]: Invalid value: "a/b": ${KEY_TEXT}`],
		},
		{
			rule: "no key is a path",
			parts: { data: { "..": "" } },
			errors: [`data[..]: Invalid value: "..": must not be '..'`],
		},
		{
			rule: "no key leads upwards",
			parts: { binaryData: { "..a": "" } },
			errors: [`binaryData[..a]: Invalid value: "..a": must not start with '..'`],
		},
		{
			rule: "a key is there once",
			parts: { data: { a: "" }, binaryData: { a: "" } },
			errors: [
				'data[a]: Invalid value: "a": duplicate of key present in binaryData',
				'binaryData[a]: Invalid value: "a": duplicate of key present in data',
			],
		},
		{
			rule: "at most 1 MiB of values",
			parts: { data: { a: "x".repeat(1024 * 1024) }, binaryData: { b: "YQ==" } },
			errors: [": Too long: may not be more than 1048576 bytes"],
		},
		{ rule: "exactly 1 MiB is fine", parts: { data: { a: "x".repeat(1024 * 1024) } }, errors: [] },
		{ rule: "__proto__ is a key like any other", parts: { data: JSON.parse('{"__proto__":"x"}') }, errors: [] },
	])("$rule", ({ parts, errors }) => {
		expect(errorTexts(CONFIG_MAP.validate(map(parts)))).toEqual(errors);
	});

	test("an immutable one changes neither its data nor its mind, and its labels may change", () => {
		const stored = map({ data: { a: "1" }, immutable: true });
		const text = "Forbidden: field is immutable when `immutable` is set";
		const changed = map({ data: { a: "2" }, immutable: false });
		expect(errorTexts(CONFIG_MAP.validateUpdate(changed, stored))).toEqual([`immutable: ${text}`, `data: ${text}`]);
		expect(CONFIG_MAP.validateUpdate({ ...stored, metadata: metadataOf("x", { labels: { a: "b" } }) }, stored)).toEqual(
			[],
		);
	});

	test("empty data is not kept", () => {
		expect(map({ data: {} })).not.toHaveProperty("data");
	});
});

describe("Secret", () => {
	const secret = (parts: Partial<Secret>): Secret =>
		SECRET.prepareCreate(
			SECRET.withDefaults({ apiVersion: "v1", kind: "Secret", metadata: metadataOf("x"), ...parts } as Secret),
			{ nowMs: 0 },
		);

	test("is Opaque by default, and stringData becomes data, winning over it", () => {
		const made = secret({ data: { a: "YQ==", b: "Yg==" }, stringData: { b: "ü", c: "" } });
		expect(made).toMatchObject({ type: "Opaque", data: { a: "YQ==", b: "w7w=", c: "" } });
		expect(made).not.toHaveProperty("stringData");
	});

	const json = btoa('{"auths":{}}');
	test.each<{ rule: string; parts: Partial<Secret>; errors: readonly string[] }>([
		{ rule: "any type of one's own", parts: { type: "helm.sh/release.v1" }, errors: [] },
		{
			rule: "tls has two parts",
			parts: { type: "kubernetes.io/tls", data: { "tls.crt": "" } },
			errors: ["data[tls.key]: Required value"],
		},
		{
			rule: "docker config",
			parts: { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": json } },
			errors: [],
		},
		{
			rule: "docker config is JSON",
			parts: { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "YQ==" } },
			errors: ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid JSON'],
		},
		{
			rule: "old docker config",
			parts: { type: "kubernetes.io/dockercfg" },
			errors: ["data[.dockercfg]: Required value"],
		},
		{
			rule: "one half of basic auth is enough",
			parts: { type: "kubernetes.io/basic-auth", data: { username: "" } },
			errors: [],
		},
		{
			rule: "basic auth is not nothing",
			parts: { type: "kubernetes.io/basic-auth" },
			errors: ["data[username]: Required value", "data[password]: Required value"],
		},
		{ rule: "ssh", parts: { type: "kubernetes.io/ssh-auth" }, errors: ["data[ssh-privatekey]: Required value"] },
		{
			rule: "a token names its account",
			parts: { type: "kubernetes.io/service-account-token" },
			errors: ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
		},
	])("$rule", ({ parts, errors }) => {
		expect(errorTexts(SECRET.validate(secret(parts)))).toEqual(errors);
	});

	test("its type stays, and naming none means the one that it has", () => {
		const stored = secret({ type: "a/b" });
		const unnamed = SECRET.withDefaults({ ...stored, type: "" } as Secret) as Secret;
		expect(SECRET.prepareUpdate(unnamed, stored)).toMatchObject({ type: "a/b" });
		expect(errorTexts(SECRET.validateUpdate(secret({ type: "c/d" }), stored))).toEqual([
			'type: Invalid value: "c/d": field is immutable',
		]);
		expect(SECRET.fields(stored)).toEqual({ type: "a/b" });
	});
});

test("a ControllerRevision has data that stays, and a number", () => {
	const revision = (parts: Partial<ControllerRevision>): ControllerRevision =>
		CONTROLLER_REVISION.withDefaults({
			apiVersion: "apps/v1",
			kind: "ControllerRevision",
			metadata: metadataOf("x"),
			...parts,
		} as ControllerRevision) as ControllerRevision;
	expect(errorTexts(CONTROLLER_REVISION.validate(revision({ revision: -1 })))).toEqual([
		"data: Required value: data is mandatory",
		"revision: Invalid value: -1: must be greater than or equal to 0",
	]);
	expect(errorTexts(CONTROLLER_REVISION.validateUpdate(revision({ data: { a: 1 } }), revision({ data: {} })))).toEqual([
		'data: Invalid value: {"a":1}: field is immutable',
	]);
});
