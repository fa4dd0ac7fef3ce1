/** The file that tells kubectl where the plane is and how to prove who one is. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { systemCode, systemReason } from "./system-reason.ts";

export interface KubeconfigContent {
	/** `https://127.0.0.1:6443` */
	readonly server: string;
	/** PEM. */
	readonly ca: string;
	readonly user: { readonly token: string } | { readonly cert: string; readonly key: string };
}

/**
 * Writes the file, mode 0600, whole or not at all. JSON is YAML too, and every client reads it.
 *
 * Rejects with a sentence that names the file and says what to do.
 */
export async function writeKubeconfig(file: string, content: KubeconfigContent): Promise<void> {
	try {
		if (path.basename(file) === "") throw new Error(file === "" ? "the path is empty" : "it is a folder");
		await makeFolder(path.dirname(file));
		await replaceFile(file, kubeconfigText(content));
	} catch (error) {
		const shown = file === "" ? '""' : file;
		throw new Error(
			`cannot write kubeconfig ${shown}: ${systemReason(error)}; choose another place with --kubeconfig`,
			{ cause: error },
		);
	}
}

export function kubeconfigText(content: KubeconfigContent): string {
	return `${JSON.stringify(configOf(content), undefined, 2)}\n`;
}

function configOf({ server, ca, user }: KubeconfigContent): object {
	const name = "sliceplane";
	return {
		apiVersion: "v1",
		kind: "Config",
		clusters: [{ name, cluster: { server, "certificate-authority-data": base64(ca) } }],
		users: [{ name, user: credentialsOf(user) }],
		contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
		"current-context": name,
		preferences: {},
	};
}

function credentialsOf(user: KubeconfigContent["user"]): object {
	if ("token" in user) return user;
	return { "client-certificate-data": base64(user.cert), "client-key-data": base64(user.key) };
}

function base64(pem: string): string {
	return Buffer.from(pem).toString("base64");
}

/** Level by level: Node's recursive mkdir never comes back where the system has no such folders, as in /proc. */
async function makeFolder(folder: string): Promise<void> {
	try {
		await mkdir(folder);
	} catch (error) {
		const code = systemCode(error);
		if (code === "EEXIST") return;
		const parent = path.dirname(folder);
		if (code !== "ENOENT" || parent === folder) throw error;
		await makeFolder(parent);
		await mkdir(folder);
	}
}

/** The temporary file has the token in it: it never stays. */
async function replaceFile(file: string, text: string): Promise<void> {
	const temporary = `${file}.${randomBytes(6).toString("hex")}`;
	try {
		await writeFile(temporary, text, { mode: 0o600 });
		await chmod(temporary, 0o600);
		await rename(temporary, file);
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => undefined);
		throw error;
	}
}
