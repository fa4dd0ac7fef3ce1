import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { certificatesFor } from "./certificates.ts";

const NOW_MS = Date.parse("2026-06-01T00:00:00Z");
const DAY_MS = 86_400_000;

let parent: string;
let folder: string;
beforeEach(async () => {
	parent = await mkdtemp(path.join(tmpdir(), "sliceplane-certificates-"));
	folder = path.join(parent, "cache", "sliceplane");
});
afterEach(async () => {
	await chmod(parent, 0o700);
	await rm(parent, { recursive: true });
});

const at = (nowMs: number, addresses: readonly string[] = []) => certificatesFor({ folder, addresses, nowMs });

describe("certificatesFor()", () => {
	test("makes a server certificate that its own authority has signed", async () => {
		const { ca, cert, key } = await at(NOW_MS, ["192.0.2.7", "2001:db8::7"]);
		const [authority, leaf] = [new X509Certificate(ca), new X509Certificate(cert)];
		expect([leaf.verify(authority.publicKey), leaf.checkIssued(authority), authority.ca, leaf.ca]).toEqual([
			true,
			true,
			true,
			false,
		]);
		for (const ip of ["127.0.0.1", "::1", "192.0.2.7", "2001:db8::7"]) expect(leaf.checkIP(ip)).toBe(ip);
		for (const name of ["localhost", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]) {
			expect(leaf.checkHost(name)).toBe(name);
		}
		expect(leaf.checkHost("example.com")).toBeUndefined();
		expect(leaf.checkIP("192.0.2.8")).toBeUndefined();
		expect(Date.parse(leaf.validFrom)).toBeLessThan(NOW_MS);
		expect((Date.parse(leaf.validTo) - NOW_MS) / DAY_MS).toBeCloseTo(365);
		expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
		expect(key).toContain("PRIVATE KEY");
	});

	test("keeps them for the next start, in a folder and a file that only the user can read", async () => {
		const made = await at(NOW_MS);
		expect(await at(NOW_MS + 300 * DAY_MS)).toEqual(made);
		expect((await stat(folder)).mode & 0o777).toBe(0o700);
		expect(await readdir(folder)).toEqual(["certificates.json"]);
		expect((await stat(path.join(folder, "certificates.json"))).mode & 0o777).toBe(0o600);
	});

	test("takes from other users what was open to them, and says so", async () => {
		const made = await at(NOW_MS);
		const file = path.join(folder, "certificates.json");
		await chmod(file, 0o644);
		await chmod(folder, 0o777);
		const told: string[] = [];
		const again = await certificatesFor({ folder, addresses: [], nowMs: NOW_MS, warn: (text) => told.push(text) });
		expect(again).toEqual(made);
		expect([(await stat(folder)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
		const risk = "whoever had its keys can be anybody here: to have new ones, remove it";
		expect(told).toEqual([
			`${folder} was open to other users (mode 0777), and is not any more; ${risk}`,
			`${file} was open to other users (mode 0644), and is not any more; ${risk}`,
		]);
	});

	test.each([
		["they soon end", NOW_MS + 340 * DAY_MS, []],
		["another address is served", NOW_MS, ["192.0.2.7"]],
	])("makes new ones when %s", async (_, nowMs, addresses) => {
		const made = await at(NOW_MS);
		const next = await at(nowMs, addresses);
		expect(next.cert).not.toBe(made.cert);
		expect(await at(nowMs, addresses)).toEqual(next);
	});

	test.each([
		["no JSON", () => "{"],
		["something else", () => "{}"],
		["no certificates", () => JSON.stringify({ ca: "a", cert: "b", key: "c" })],
		[
			"a key of another",
			(text: string, other: string) => JSON.stringify({ ...JSON.parse(text), key: JSON.parse(other).key }),
		],
		[
			"an authority of another",
			(text: string, other: string) => JSON.stringify({ ...JSON.parse(text), ca: JSON.parse(other).ca }),
		],
	])("makes new ones when the file holds %s", async (_, damage) => {
		const file = path.join(folder, "certificates.json");
		await at(NOW_MS);
		const text = await readFile(file, "utf8");
		const other = await certificatesFor({ folder: path.join(parent, "other"), addresses: [], nowMs: NOW_MS });
		await writeFile(file, damage(text, JSON.stringify(other)));
		const { ca, cert } = await at(NOW_MS);
		expect(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
		expect(JSON.parse(await readFile(file, "utf8")).cert).toBe(cert);
	});

	test("works where nothing can be kept", async () => {
		folder = path.join(parent, "file", "below");
		await writeFile(path.join(parent, "file"), "");
		expect((await at(NOW_MS)).cert).toContain("BEGIN CERTIFICATE");
	});

	test("two starts at once leave one whole file", async () => {
		const pair = await Promise.all([at(NOW_MS), at(NOW_MS)]);
		expect(pair).toContainEqual(await at(NOW_MS));
		expect(await readdir(folder)).toEqual(["certificates.json"]);
	});
});
