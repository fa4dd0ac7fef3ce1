/** The PEM files of a TLS connection to etcd, checked before anything is done with them. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { systemCode } from "../system-reason.ts";

export interface TlsFile {
	/** `--etcd-cafile PATH` */
	readonly name: string;
	readonly pem: Buffer;
}

export interface TlsFiles {
	readonly ca?: TlsFile | undefined;
	readonly cert?: TlsFile | undefined;
	readonly key?: TlsFile | undefined;
}

/** @throws {Error} A sentence that names the flag. */
export function checkTlsFiles({ ca, cert, key }: TlsFiles): void {
	if (ca !== undefined) certificateOf(ca);
	const own = cert === undefined ? undefined : certificateOf(cert);
	const secret = key === undefined ? undefined : privateKeyOf(key);
	if (cert !== undefined && key === undefined) throw new Error(`${cert.name}: want --etcd-keyfile with it`);
	if (key !== undefined && cert === undefined) throw new Error(`${key.name}: want --etcd-certfile with it`);
	if (own === undefined || secret === undefined || own.checkPrivateKey(secret)) return;
	throw new Error(`${key?.name}: want the key of the certificate in ${cert?.name}, it is the key of another one`);
}

/** The first one of the file. */
function certificateOf({ name, pem }: TlsFile): X509Certificate {
	const label = labelsOf(pem).find((each) => each.endsWith("CERTIFICATE"));
	if (label === undefined) throw new Error(`${name}: want certificates in PEM, found ${found(pem)}`);
	try {
		return new X509Certificate(pem.subarray(pem.indexOf(`-----BEGIN ${label}-----`)));
	} catch (error) {
		throw new Error(`${name}: want certificates in PEM, found one that is broken`, { cause: error });
	}
}

function privateKeyOf({ name, pem }: TlsFile): KeyObject {
	const label = labelsOf(pem).find((each) => each.endsWith("PRIVATE KEY"));
	if (label === undefined) throw new Error(`${name}: want a private key in PEM, found ${found(pem)}`);
	try {
		return createPrivateKey(pem.subarray(pem.indexOf(`-----BEGIN ${label}-----`)));
	} catch (error) {
		const isLocked = systemCode(error) === "ERR_MISSING_PASSPHRASE";
		const why = isLocked ? "found one with a passphrase: want it without" : "found one that is broken";
		throw new Error(`${name}: want a private key in PEM, ${why}`, { cause: error });
	}
}

function labelsOf(pem: Buffer): readonly string[] {
	return [...pem.toString("latin1").matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----/g)].map(([, label = ""]) => label);
}

function found(pem: Buffer): string {
	const [label] = labelsOf(pem);
	return label === undefined ? "no PEM" : `a ${label}`;
}
