import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeKubeconfig } from "./kubeconfig-file.ts";
import { KubeconfigError, type KubeconfigSource, readKubeconfig } from "./kubeconfig-reader.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const DATA = Buffer.from(PEM).toString("base64");

let folder: string;
beforeEach(async () => {
	folder = await mkdtemp(path.join(tmpdir(), "sliceplane-kubeconfig-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function file(name: string, content: string | object): Promise<string> {
	const full = path.join(folder, name);
	await mkdir(path.dirname(full), { recursive: true });
	await writeFile(full, typeof content === "string" ? content : JSON.stringify(content));
	return full;
}

const read = (source: Partial<KubeconfigSource>) =>
	readKubeconfig({ defaultFile: path.join(folder, "none"), ...source });

interface Parts {
	readonly cluster?: object;
	readonly user?: object;
	readonly context?: object;
}

/** A kubeconfig with one context `dev` of cluster `c` and user `u`. */
function config({ cluster = {}, user = {}, context = {} }: Parts = {}): object {
	return {
		"current-context": "dev",
		contexts: [{ name: "dev", context: { cluster: "c", user: "u", ...context } }],
		clusters: [{ name: "c", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
		users: [{ name: "u", user }],
	};
}

/** The message of the refusal, with FILE for the file's name. */
async function refusal(content: string | object, source: Partial<KubeconfigSource> = {}): Promise<string> {
	const name = await file("config", content);
	const error = await read({ file: name, ...source }).catch((reason: unknown) => reason);
	expect(error).toBeInstanceOf(KubeconfigError);
	return String((error as Error).message).replaceAll(name, "FILE");
}

describe("readKubeconfig()", () => {
	test("reads what `up` has written", async () => {
		const name = path.join(folder, "deep/er/kubeconfig");
		await writeKubeconfig(name, { server: "https://127.0.0.1:6443", ca: PEM, user: { token: "secret" } });
		const { token, ...access } = await read({ file: name });
		expect(access).toEqual({ context: "sliceplane", namespace: "default", server: "https://127.0.0.1:6443", ca: PEM });
		expect(await token?.()).toBe("secret");
	});

	test("reads YAML with comments, and the namespace of the context", async () => {
		const text = `# mine
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: {cluster: c, namespace: team-a}
clusters:
- name: c
  cluster:
    server: http://localhost:8080
    insecure-skip-tls-verify: true
    tls-server-name: api.example
`;
		expect(await read({ file: await file("config", text) })).toEqual({
			context: "dev",
			namespace: "team-a",
			server: "http://localhost:8080",
			insecureSkipTlsVerify: true,
			tlsServerName: "api.example",
		});
	});

	test("takes files for data, relative to the kubeconfig that names them", async () => {
		await file("sub/ca.pem", PEM);
		await file("sub/me.pem", `${PEM}1`);
		await file("sub/me.key", `${PEM}2`);
		await file("sub/token", "from-file\n");
		const parts = {
			cluster: { "certificate-authority": "ca.pem" },
			user: { "client-certificate": "me.pem", "client-key": "./me.key", tokenFile: "token", token: "inline" },
		};
		const access = await read({ file: await file("sub/config", config(parts)) });
		expect([access.ca, access.certificate]).toEqual([PEM, { cert: `${PEM}1`, key: `${PEM}2` }]);
		expect(await access.token?.()).toBe("from-file");
	});

	test("prefers data over files", async () => {
		const cluster = { "certificate-authority": "none.pem", "certificate-authority-data": DATA };
		expect((await read({ file: await file("config", config({ cluster })) })).ca).toBe(PEM);
	});

	test("of several files the first that says something wins, and missing ones are skipped", async () => {
		const one = await file("one", { users: [{ name: "u", user: { token: "one" } }] });
		const two = await file("two", config({ user: { token: "two" } }));
		const three = await file("three", {
			"current-context": "other",
			contexts: [{ name: "other", context: { cluster: "c" } }],
		});
		const files = [path.join(folder, "missing"), one, "", two, three].join(path.delimiter);
		const access = await read({ files });
		expect([access.context, access.server, await access.token?.()]).toEqual(["dev", "https://10.0.0.1:6443", "one"]);
		expect((await read({ files, context: "other" })).context).toBe("other");
		expect((await read({ file: two, files: one })).context).toBe("dev");
	});

	test("reads the default file when nothing else is named", async () => {
		expect((await read({ files: "", defaultFile: await file("default", config()) })).context).toBe("dev");
	});

	test.each<readonly [string, string | object, Partial<KubeconfigSource>, string]>([
		[
			"no current context",
			{ contexts: [] },
			{},
			"FILE: current-context is missing: set it, or choose one with --context",
		],
		["an empty file", "", {}, "FILE: current-context is missing: set it, or choose one with --context"],
		["a context that is not there", config(), { context: "prod" }, 'FILE: context "prod" is missing in contexts'],
		[
			"a cluster that is not there",
			config({ context: { cluster: "x" } }),
			{},
			'FILE: cluster "x" is missing in clusters',
		],
		["a user that is not there", config({ context: { user: "x" } }), {}, 'FILE: user "x" is missing in users'],
		[
			"a context without a cluster",
			config({ context: { cluster: "" } }),
			{},
			'FILE: context "dev": cluster is missing',
		],
		["a cluster without a server", config({ cluster: { server: "" } }), {}, 'FILE: cluster "c": server is missing'],
		[
			"a server that is no URL",
			config({ cluster: { server: "10.0.0.1" } }),
			{},
			'FILE: cluster "c": server: want https://HOST:PORT, not 10.0.0.1',
		],
		["a proxy", config({ cluster: { "proxy-url": "http://p" } }), {}, 'FILE: cluster "c": proxy-url is not supported'],
		[
			"data that is no PEM",
			config({ cluster: { "certificate-authority-data": "AAAA" } }),
			{},
			'FILE: cluster "c": certificate-authority-data: want the base64 of PEM',
		],
		[
			"a key without a certificate",
			config({ user: { "client-key-data": DATA } }),
			{},
			'FILE: user "u": client-certificate is missing: both halves are needed',
		],
		[
			"a certificate without a key",
			config({ user: { "client-certificate-data": DATA } }),
			{},
			'FILE: user "u": client-key is missing: both halves are needed',
		],
		[
			"a plugin",
			config({ user: { exec: { command: "aws" } } }),
			{},
			'FILE: user "u": exec is not supported: use a kubeconfig with a token or a client certificate',
		],
		["an old plugin", config({ user: { "auth-provider": {} } }), {}, 'FILE: user "u": auth-provider is not supported'],
		["a password", config({ user: { username: "a" } }), {}, 'FILE: user "u": username is not supported'],
		["impersonation", config({ user: { as: "a" } }), {}, 'FILE: user "u": as is not supported'],
		["a token that is no string", config({ user: { token: 5 } }), {}, 'FILE: user "u": token must be a string'],
		["a list for a file", "[1]", {}, "FILE: a kubeconfig must be an object of kind Config"],
		[
			"a cluster entry of nothing",
			{ ...config(), clusters: [{ name: "c" }] },
			{},
			'FILE: cluster "c" has no cluster: in it',
		],
	])("%s is told with the file and what is missing", async (_, content, source, message) => {
		expect(await refusal(content, source)).toBe(message);
	});

	test("broken YAML is told with its line", async () => {
		expect(await refusal("a: [\nb")).toMatch(/^FILE: yaml: line 2/);
	});

	test("a file that is not there is told by its name", async () => {
		const none = path.join(folder, "nope");
		await expect(read({ file: none })).rejects.toThrow(`cannot read the kubeconfig ${none}: ENOENT`);
		await expect(read({ files: none })).rejects.toThrow(`KUBECONFIG names only files that do not exist: ${none}`);
		await expect(read({ defaultFile: none })).rejects.toThrow(
			`there is no kubeconfig: ${none}: give one with --kubeconfig`,
		);
		const user = { "client-certificate": "gone.pem", "client-key-data": DATA };
		expect(await refusal(config({ user }))).toMatch(/^FILE: user "u": client-certificate: ENOENT.*gone\.pem/);
	});
});
