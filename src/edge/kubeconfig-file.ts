/** The file that tells kubectl where the plane is and how to prove who one is. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";

export interface KubeconfigContent {
	/** `https://127.0.0.1:6443` */
	readonly server: string;
	/** PEM. */
	readonly ca: string;
	readonly token: string;
}

/** Writes the file, mode 0600, whole or not at all. JSON is YAML too, and every client reads it. */
export async function writeKubeconfig(file: string, { server, ca, token }: KubeconfigContent): Promise<void> {
	const name = "sliceplane";
	const config = {
		apiVersion: "v1",
		kind: "Config",
		clusters: [{ name, cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
		users: [{ name, user: { token } }],
		contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
		"current-context": name,
		preferences: {},
	};
	await mkdir(path.dirname(file), { recursive: true });
	const temporary = `${file}.${randomBytes(6).toString("hex")}`;
	await writeFile(temporary, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
	await chmod(temporary, 0o600);
	await rename(temporary, file);
}
