/**
 * A certificate authority and a server certificate, made once and kept in the user's cache folder.
 *
 * Making them costs some hundred milliseconds, so only the first start pays. The folder is the
 * user's own (0700, files 0600); deleting it is safe at any time.
 */
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";

export interface Certificates {
	/** PEM. */
	readonly ca: string;
	readonly cert: string;
	readonly key: string;
}

const DAY_MS = 86_400_000;
const LIFE_DAYS = 365;
/** Made anew when less is left, so that a plane does not outlive its certificate. */
const LEFT_DAYS_MIN = 30;
/** Names that clients and pods know an API server by. */
const DNS_NAMES = [
	"localhost",
	"kubernetes",
	"kubernetes.default",
	"kubernetes.default.svc",
	"kubernetes.default.svc.cluster.local",
];

export interface CertificateRequest {
	/** Where to keep them; made if missing. */
	readonly folder: string;
	/** IP addresses that the server is reached at, beside the loopback ones. */
	readonly addresses: readonly string[];
	readonly nowMs: number;
}

/** The kept certificates if they still serve, else new ones. */
export async function certificatesFor(request: CertificateRequest): Promise<Certificates> {
	const kept = await readKept(request.folder);
	if (kept !== undefined && isFit(kept, request)) return kept;
	const made = await make(request);
	await keep(request.folder, made);
	return made;
}

const FILE = "certificates.json";

async function readKept(folder: string): Promise<Certificates | undefined> {
	try {
		const value: Partial<Certificates> = JSON.parse(await readFile(path.join(folder, FILE), "utf8"));
		const { ca, cert, key } = value;
		if (typeof ca !== "string" || typeof cert !== "string" || typeof key !== "string") return undefined;
		return { ca, cert, key };
	} catch {
		return undefined; // Missing or damaged: new ones are made.
	}
}

function isFit({ ca, cert, key }: Certificates, { addresses, nowMs }: CertificateRequest): boolean {
	try {
		const leaf = new X509Certificate(cert);
		const isTrusted = leaf.verify(new X509Certificate(ca).publicKey) && leaf.checkPrivateKey(createPrivateKey(key));
		const leftDays = (Date.parse(leaf.validTo) - nowMs) / DAY_MS;
		return isTrusted && leftDays > LEFT_DAYS_MIN && addresses.every((ip) => leaf.checkIP(ip) !== undefined);
	} catch {
		return false;
	}
}

/** The file appears whole or not at all: two planes may start at once. */
async function keep(folder: string, certificates: Certificates): Promise<void> {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 });
		const temporary = path.join(folder, `${FILE}.${randomBytes(6).toString("hex")}`);
		await writeFile(temporary, JSON.stringify(certificates), { mode: 0o600 });
		await chmod(temporary, 0o600);
		await rename(temporary, path.join(folder, FILE));
	} catch {
		// A cache that cannot be written (a read-only home) only makes the next start slower.
	}
}

async function make({ addresses, nowMs }: CertificateRequest): Promise<Certificates> {
	// Loaded only here: the library takes longer to load than a whole start with kept certificates.
	await import("reflect-metadata");
	const x509 = await import("@peculiar/x509");
	x509.cryptoProvider.set(webcrypto);
	const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
	const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
	const [caKeys, leafKeys] = await Promise.all([newKeys(), newKeys()]);
	const life = { notBefore: new Date(nowMs - DAY_MS), notAfter: new Date(nowMs + LIFE_DAYS * DAY_MS) };
	const serial = (): string => `00${randomBytes(15).toString("hex")}`;
	const ca = await x509.X509CertificateGenerator.createSelfSigned({
		serialNumber: serial(),
		name: `CN=sliceplane-ca-${randomBytes(4).toString("hex")}`,
		...life,
		keys: caKeys,
		signingAlgorithm: algorithm,
		extensions: [
			new x509.BasicConstraintsExtension(true, 0, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
			await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
		],
	});
	const names = [
		...DNS_NAMES.map((value) => ({ type: "dns" as const, value })),
		...["127.0.0.1", "::1", ...addresses].map((value) => ({ type: "ip" as const, value })),
	];
	const leaf = await x509.X509CertificateGenerator.create({
		serialNumber: serial(),
		subject: "CN=sliceplane",
		issuer: ca.subject,
		...life,
		publicKey: leafKeys.publicKey,
		signingKey: caKeys.privateKey,
		signingAlgorithm: algorithm,
		extensions: [
			new x509.BasicConstraintsExtension(false, undefined, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
			new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
			new x509.SubjectAlternativeNameExtension(names),
			await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
		],
	});
	const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", leafKeys.privateKey), "PRIVATE KEY");
	return { ca: ca.toString("pem"), cert: leaf.toString("pem"), key };
}
