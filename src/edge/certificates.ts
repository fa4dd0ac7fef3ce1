/**
 * A certificate authority and a server certificate, made once and kept in the user's cache folder.
 *
 * Making them costs some hundred milliseconds, so only the first start pays. The folder is the
 * user's own (0700, files 0600), and made so again when it is not; deleting it is safe at any time.
 */
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { systemCode } from "./system-reason.ts";

export interface Certificates {
	/** PEM. */
	readonly ca: string;
	readonly cert: string;
	readonly key: string;
	/** Of the authority: who has it can be anybody. */
	readonly caKey: string;
	/** Signs the tokens of ServiceAccounts. */
	readonly accountKey: string;
}

const FILE = "certificates.json";
const DAY_MS = 86_400_000;
const LIFE_DAYS = 365;
/** Made anew when less is left, so that a plane does not outlive its certificate. */
const LEFT_DAYS_MIN = 30;
/** Names that clients and pods know an API server by. */
export const SERVER_NAMES: readonly string[] = [
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
	/** Told, in sentences, that others could read or change what is kept. */
	readonly warn?: (text: string) => void;
}

/**
 * The kept certificates if they still serve, else new ones. The authority stays as long as it can, so that servers which
 * share the folder have one, at whatever addresses they are.
 */
export async function certificatesFor(request: CertificateRequest): Promise<Certificates> {
	const { folder, nowMs, warn = () => undefined } = request;
	for (const place of [folder, path.join(folder, FILE)]) await keepPrivate(place, warn);
	const kept = await readKept(folder);
	if (kept !== undefined && isFit(kept, request)) return kept;
	const isStanding = kept !== undefined && isAuthorityFit(kept, nowMs);
	const made = await served(isStanding ? kept : await newAuthority(nowMs), request);
	if ((await keep(folder, made, kept === undefined ? "first" : "again")) === "kept") return made;
	// Another server was first, or the file is damaged.
	if ((await readKept(folder)) !== undefined) return certificatesFor(request);
	await keep(folder, made, "again");
	return made;
}

const OTHERS = 0o077;

/** What is another user's, as a folder that is mounted, can only be told of. */
async function keepPrivate(place: string, warn: (text: string) => void): Promise<void> {
	const found = await stat(place).catch(() => undefined);
	if (found === undefined || (found.mode & OTHERS) === 0) return;
	const open = `${place} was open to other users (mode 0${(found.mode & 0o777).toString(8)})`;
	const isMended = await chmod(place, found.mode & 0o700).then(
		() => true,
		() => false,
	);
	const risk = "whoever had its keys can be anybody here: to have new ones, remove it";
	warn(`${open}${isMended ? ", and is not any more" : ""}; ${risk}`);
}

/** Those that a plane of this user serves with. Undefined: none was started yet. */
export function keptCertificates(folder: string): Promise<Certificates | undefined> {
	return readKept(folder);
}

async function readKept(folder: string): Promise<Certificates | undefined> {
	try {
		const value: Partial<Certificates> = JSON.parse(await readFile(path.join(folder, FILE), "utf8"));
		const { ca, cert, key, caKey, accountKey } = value;
		if (typeof ca !== "string" || typeof cert !== "string" || typeof key !== "string") return undefined;
		if (typeof caKey !== "string" || typeof accountKey !== "string") return undefined;
		return { ca, cert, key, caKey, accountKey };
	} catch {
		return undefined; // Missing or damaged: new ones are made.
	}
}

function isFit(certificates: Certificates, { addresses, nowMs }: CertificateRequest): boolean {
	const { ca, cert, key } = certificates;
	if (!isAuthorityFit(certificates, nowMs)) return false;
	try {
		const leaf = new X509Certificate(cert);
		const isTrusted = leaf.verify(new X509Certificate(ca).publicKey) && leaf.checkPrivateKey(createPrivateKey(key));
		return isTrusted && isLasting(leaf, nowMs) && addresses.every((ip) => leaf.checkIP(ip) !== undefined);
	} catch {
		return false;
	}
}

function isAuthorityFit({ ca, caKey, accountKey }: Certificates, nowMs: number): boolean {
	try {
		const authority = new X509Certificate(ca);
		createPrivateKey(accountKey);
		return authority.checkPrivateKey(createPrivateKey(caKey)) && isLasting(authority, nowMs);
	} catch {
		return false;
	}
}

function isLasting({ validTo }: X509Certificate, nowMs: number): boolean {
	return (Date.parse(validTo) - nowMs) / DAY_MS > LEFT_DAYS_MIN;
}

/** The file appears whole or not at all: two servers may start at once, and only one is the first. */
async function keep(folder: string, certificates: Certificates, how: "first" | "again"): Promise<"kept" | "taken"> {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 });
		const temporary = path.join(folder, `${FILE}.${randomBytes(6).toString("hex")}`);
		await writeFile(temporary, JSON.stringify(certificates), { mode: 0o600 });
		await chmod(temporary, 0o600);
		if (how === "again") await rename(temporary, path.join(folder, FILE));
		else await link(temporary, path.join(folder, FILE)).finally(() => rm(temporary, { force: true }));
	} catch (error) {
		if (how === "first" && systemCode(error) === "EEXIST") return "taken";
		// A cache that cannot be written (a read-only home) only makes the next start slower.
	}
	return "kept";
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
	return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

type X509 = typeof import("@peculiar/x509");

/** Loaded only here: the library takes longer to load than a whole start with kept certificates. */
async function loadX509(): Promise<X509> {
	await import("reflect-metadata");
	const x509 = await import("@peculiar/x509");
	x509.cryptoProvider.set(webcrypto);
	return x509;
}

async function pemOf(x509: X509, key: webcrypto.CryptoKey): Promise<string> {
	return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}

function lifeFrom(nowMs: number): { readonly notBefore: Date; readonly notAfter: Date } {
	return { notBefore: new Date(nowMs - DAY_MS), notAfter: new Date(nowMs + LIFE_DAYS * DAY_MS) };
}

function serialNumber(): string {
	return `00${randomBytes(15).toString("hex")}`;
}

type Authority = Pick<Certificates, "ca" | "caKey" | "accountKey">;

async function newAuthority(nowMs: number): Promise<Authority> {
	const x509 = await loadX509();
	const [keys, accountKeys] = await Promise.all([newKeys(), newKeys()]);
	const ca = await x509.X509CertificateGenerator.createSelfSigned({
		serialNumber: serialNumber(),
		name: `CN=sliceplane-ca-${randomBytes(4).toString("hex")}`,
		...lifeFrom(nowMs),
		keys,
		signingAlgorithm: ALGORITHM,
		extensions: [
			new x509.BasicConstraintsExtension(true, 0, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
			await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
		],
	});
	return {
		ca: ca.toString("pem"),
		caKey: await pemOf(x509, keys.privateKey),
		accountKey: await pemOf(x509, accountKeys.privateKey),
	};
}

/** A server certificate by this authority. */
async function served(authority: Authority, { addresses, nowMs }: CertificateRequest): Promise<Certificates> {
	const x509 = await loadX509();
	const keys = await newKeys();
	const ca = new x509.X509Certificate(authority.ca);
	const names = [
		...SERVER_NAMES.map((value) => ({ type: "dns" as const, value })),
		...["127.0.0.1", "::1", ...addresses].map((value) => ({ type: "ip" as const, value })),
	];
	const leaf = await x509.X509CertificateGenerator.create({
		serialNumber: serialNumber(),
		subject: "CN=sliceplane",
		issuer: ca.subject,
		...lifeFrom(nowMs),
		publicKey: keys.publicKey,
		signingKey: await signingKey(authority.caKey),
		signingAlgorithm: ALGORITHM,
		extensions: [
			new x509.BasicConstraintsExtension(false, undefined, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
			new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
			new x509.SubjectAlternativeNameExtension(names),
			await x509.AuthorityKeyIdentifierExtension.create(ca.publicKey),
		],
	});
	return { ...authority, cert: leaf.toString("pem"), key: await pemOf(x509, keys.privateKey) };
}

function signingKey(caKey: string): Promise<webcrypto.CryptoKey> {
	const der = createPrivateKey(caKey).export({ type: "pkcs8", format: "der" });
	return webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
}

export interface ClientIdentity {
	readonly user: string;
	readonly groups: readonly string[];
}

/** A certificate by which a client proves to be a user, and its key; PEM. As good as long as the authority's own. */
export async function clientCertificate(
	{ ca, caKey }: Pick<Certificates, "ca" | "caKey">,
	{ user, groups }: ClientIdentity,
	nowMs: number,
): Promise<{ readonly cert: string; readonly key: string }> {
	const x509 = await loadX509();
	const keys = await newKeys();
	const certificate = await x509.X509CertificateGenerator.create({
		serialNumber: serialNumber(),
		subject: [{ CN: [user] }, ...groups.map((group) => ({ O: [group] }))],
		issuer: new x509.X509Certificate(ca).subject,
		...lifeFrom(nowMs),
		publicKey: keys.publicKey,
		signingKey: await signingKey(caKey),
		signingAlgorithm: ALGORITHM,
		extensions: [
			new x509.BasicConstraintsExtension(false, undefined, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
			new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
		],
	});
	return { cert: certificate.toString("pem"), key: await pemOf(x509, keys.privateKey) };
}
