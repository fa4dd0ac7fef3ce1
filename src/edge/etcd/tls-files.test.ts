import { beforeAll, describe, expect, test } from "vitest";
import { testCertificates } from "../../testing/https-test-server.ts";
import type { Certificates } from "../certificates.ts";
import { checkTlsFiles, type TlsFile } from "./tls-files.ts";

let made: Certificates;
beforeAll(async () => {
	made = await testCertificates();
});

const file = (flag: string, pem: string): TlsFile => ({ name: `--etcd-${flag}file f`, pem: Buffer.from(pem) });

describe("checkTlsFiles()", () => {
	test("takes what belongs together, with words around it", () => {
		const [cert, key] = [file("cert", `text\n${made.cert}`), file("key", `-----BEGIN X-----\n${made.key}`)];
		expect(() => checkTlsFiles({ ca: file("ca", `${made.ca}\n${made.cert}`), cert, key })).not.toThrow();
		expect(() => checkTlsFiles({})).not.toThrow();
	});

	test("names the flag, what it wants and what it found, and shows nothing of a key", () => {
		const [cert, key] = [file("cert", made.cert), file("key", made.key)];
		const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
		const cases = [
			[{ ca: file("ca", made.key) }, "--etcd-cafile f: want certificates in PEM, found a PRIVATE KEY"],
			[{ ca: file("ca", "") }, "--etcd-cafile f: want certificates in PEM, found no PEM"],
			[{ ca: file("ca", broken) }, "--etcd-cafile f: want certificates in PEM, found one that is broken"],
			[{ cert }, "--etcd-certfile f: want --etcd-keyfile with it"],
			[{ key }, "--etcd-keyfile f: want --etcd-certfile with it"],
			[{ cert, key: file("key", made.cert) }, "--etcd-keyfile f: want a private key in PEM, found a CERTIFICATE"],
			[
				{ cert, key: file("key", made.caKey) },
				"--etcd-keyfile f: want the key of the certificate in --etcd-certfile f, it is the key of another one",
			],
		] as const;
		for (const [files, why] of cases) expect(() => checkTlsFiles(files)).toThrow(new Error(why));
	});
});
