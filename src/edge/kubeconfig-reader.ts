/** How to reach a cluster, as kubectl would find it: the current context of the kubeconfig files. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, ownValue } from "../kernel/json.ts";
import { parseYaml } from "./codec/yaml.ts";
import type { ServerAccess } from "./http-exchange.ts";
import { TokenFile } from "./token-file.ts";

export interface KubeconfigSource {
	/** `--kubeconfig`: this file alone, and it must exist. */
	readonly file?: string | undefined;
	/** `--context`: instead of the file's current one. */
	readonly context?: string | undefined;
	/** `KUBECONFIG`: files separated by `:` (`;` on Windows); what comes first wins, missing ones are skipped. */
	readonly files?: string | undefined;
	/** Read when neither is given: `~/.kube/config`. */
	readonly defaultFile: string;
}

export interface KubeconfigAccess extends ServerAccess {
	readonly context: string;
	/** Of the context; `default` when it says none. */
	readonly namespace: string;
}

/** A kubeconfig that cannot be used. The message names the file and what is missing in it. */
export class KubeconfigError extends Error {
	override readonly name = "KubeconfigError";
}

/** There is no file to read at all, and none was asked for by name. */
export class NoKubeconfig extends KubeconfigError {}

/** One named entry of a kubeconfig, and the file that it stands in. */
interface Entry {
	readonly file: string;
	/** `user "admin"`, for messages. */
	readonly title: string;
	readonly value: Readonly<Record<string, unknown>>;
}

interface Config {
	readonly file: string;
	readonly value: Readonly<Record<string, unknown>>;
}

/** @throws {KubeconfigError} */
export async function readKubeconfig(source: KubeconfigSource): Promise<KubeconfigAccess> {
	const configs = await readConfigs(source);
	const { context, chosenIn } = chosenContext(source, configs);
	const entry = entryOf(configs, "context", context, chosenIn);
	const cluster = entryOf(configs, "cluster", textIn(entry, "cluster"), entry.file);
	const userName = optionalText(entry, "user");
	const user = userName === undefined ? undefined : entryOf(configs, "user", userName, entry.file);
	return {
		context,
		namespace: optionalText(entry, "namespace") ?? "default",
		...(await clusterAccess(cluster)),
		...(user === undefined ? {} : await userAccess(user)),
	};
}

async function readConfigs({ file, files = "", defaultFile }: KubeconfigSource): Promise<readonly Config[]> {
	if (file !== undefined) return [await readConfig(file)];
	const listed = files.split(path.delimiter).filter((name) => name !== "");
	const candidates = listed.length > 0 ? listed : [defaultFile];
	const found: Config[] = [];
	for (const name of candidates) {
		try {
			found.push(await readConfig(name));
		} catch (error) {
			if (!isMissing(error)) throw error;
		}
	}
	if (found.length > 0) return found;
	const from = listed.length > 0 ? "KUBECONFIG names only files that do not exist" : "there is no kubeconfig";
	throw new NoKubeconfig(`${from}: ${candidates.join(path.delimiter)}: give one with --kubeconfig`);
}

async function readConfig(file: string): Promise<Config> {
	const text = await readFile(file, "utf8").catch((error: unknown) => {
		throw new KubeconfigError(`cannot read the kubeconfig ${file}: ${messageOf(error)}`, { cause: error });
	});
	const parsed = await parseYaml(text);
	if (parsed.kind === "malformed") throw new KubeconfigError(`${file}: ${parsed.message}`);
	if (parsed.value === null) return { file, value: {} };
	if (!isObject(parsed.value)) throw new KubeconfigError(`${file}: a kubeconfig must be an object of kind Config`);
	return { file, value: parsed.value };
}

function isMissing(error: unknown): boolean {
	const cause = error instanceof KubeconfigError ? error.cause : undefined;
	return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}

function chosenContext(
	{ context }: KubeconfigSource,
	configs: readonly Config[],
): { readonly context: string; readonly chosenIn: string } {
	const names = configs.map(({ file }) => file).join(path.delimiter);
	if (context !== undefined && context !== "") return { context, chosenIn: names };
	for (const { file, value } of configs) {
		const current = ownValue(value, "current-context");
		if (typeof current === "string" && current !== "") return { context: current, chosenIn: file };
	}
	throw new KubeconfigError(`${names}: current-context is missing: set it, or choose one with --context`);
}

/** The first entry of the name over all files. */
function entryOf(configs: readonly Config[], kind: "context" | "cluster" | "user", name: string, from: string): Entry {
	const title = `${kind} ${JSON.stringify(name)}`;
	for (const { file, value } of configs) {
		const list = ownValue(value, `${kind}s`);
		const found = Array.isArray(list) ? list.find((item) => isObject(item) && item["name"] === name) : undefined;
		if (found === undefined) continue;
		const entry: unknown = ownValue(found, kind);
		if (!isObject(entry)) throw new KubeconfigError(`${file}: ${title} has no ${kind}: in it`);
		return { file, title, value: entry };
	}
	throw new KubeconfigError(`${from}: ${title} is missing in ${kind}s`);
}

async function clusterAccess(cluster: Entry): Promise<ServerAccess> {
	const server = textIn(cluster, "server");
	if (!/^https?:\/\/[^/]/.test(server)) {
		throw new KubeconfigError(`${cluster.file}: ${cluster.title}: server: want https://HOST:PORT, not ${server}`);
	}
	refuse(cluster, ["proxy-url"]);
	const ca = await pemIn(cluster, "certificate-authority");
	const tlsServerName = optionalText(cluster, "tls-server-name");
	return {
		server,
		...(ca === undefined ? {} : { ca }),
		...(tlsServerName === undefined ? {} : { tlsServerName }),
		...(cluster.value["insecure-skip-tls-verify"] === true ? { insecureSkipTlsVerify: true } : {}),
	};
}

const IMPERSONATION = ["as", "as-uid", "as-groups", "as-user-extra"];

async function userAccess(user: Entry): Promise<Pick<ServerAccess, "certificate" | "token">> {
	refuse(user, ["exec", "auth-provider", "username", "password", ...IMPERSONATION]);
	const cert = await pemIn(user, "client-certificate");
	const key = await pemIn(user, "client-key");
	if ((cert === undefined) !== (key === undefined)) {
		const missing = cert === undefined ? "client-certificate" : "client-key";
		throw new KubeconfigError(`${user.file}: ${user.title}: ${missing} is missing: both halves are needed`);
	}
	return { ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }), ...tokenOf(user) };
}

/** The file wins over the token beside it, which is what kubectl does. */
function tokenOf(user: Entry): Pick<ServerAccess, "token"> {
	const file = optionalText(user, "tokenFile");
	if (file !== undefined) {
		const tokens = new TokenFile(besides(user, file));
		return { token: () => tokens.read() };
	}
	const token = optionalText(user, "token");
	return token === undefined ? {} : { token: () => Promise.resolve(token) };
}

/** Better no connection than one that ignores what the file asks for. */
function refuse({ file, title, value }: Entry, names: readonly string[]): void {
	const found = names.find((name) => ownValue(value, name) !== undefined);
	if (found === undefined) return;
	const instead = found === "exec" ? ": use a kubeconfig with a token or a client certificate" : "";
	throw new KubeconfigError(`${file}: ${title}: ${found} is not supported${instead}`);
}

/** PEM from `NAME-data` (base64), or else from the file that `NAME` names. */
async function pemIn(entry: Entry, name: string): Promise<string | undefined> {
	const data = optionalText(entry, `${name}-data`);
	if (data !== undefined) {
		const text = Buffer.from(data, "base64").toString("utf8");
		if (text.includes("-----BEGIN ")) return text;
		throw new KubeconfigError(`${entry.file}: ${entry.title}: ${name}-data: want the base64 of PEM`);
	}
	const file = optionalText(entry, name);
	if (file === undefined) return undefined;
	return readFile(besides(entry, file), "utf8").catch((error: unknown) => {
		throw new KubeconfigError(`${entry.file}: ${entry.title}: ${name}: ${messageOf(error)}`, { cause: error });
	});
}

/** Paths in a kubeconfig are relative to the file that they stand in. */
function besides({ file }: Entry, name: string): string {
	return path.resolve(path.dirname(file), name);
}

function optionalText({ file, title, value }: Entry, name: string): string | undefined {
	const text = ownValue(value, name) ?? undefined;
	if (text === undefined || text === "") return undefined;
	if (typeof text === "string") return text;
	throw new KubeconfigError(`${file}: ${title}: ${name} must be a string`);
}

function textIn(entry: Entry, name: string): string {
	const text = optionalText(entry, name);
	if (text !== undefined) return text;
	throw new KubeconfigError(`${entry.file}: ${entry.title}: ${name} is missing`);
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
