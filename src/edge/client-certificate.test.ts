import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpRequest } from "../apiserver/http/message.ts";
import { HttpsTestServer, testCertificates } from "../testing/https-test-server.ts";
import { type Certificates, certificatesFor, clientCertificate } from "./certificates.ts";

let server: HttpsTestServer;
let seen: HttpRequest["clientCertificate"];
beforeAll(async () => {
	server = await HttpsTestServer.start({
		handler: (api) => (asked) => {
			seen = asked.clientCertificate;
			return api(asked);
		},
	});
});
afterAll(() => server.close());

/** The status of an answer to a client that shows this certificate. */
function statusWith(client: { readonly cert?: string; readonly key?: string }, target = "/healthz"): Promise<number> {
	const { ca } = server.certificates;
	return new Promise((resolve, reject) => {
		const sent = request(`${server.url}${target}`, { ca, agent: false, ...client }, (response) => {
			response.resume();
			resolve(response.statusCode ?? 0);
		});
		sent.on("error", reject);
		sent.end();
	});
}

const nowMs = performance.timeOrigin;
const signed = (by: Certificates, user: string, ...groups: string[]) => clientCertificate(by, { user, groups }, nowMs);

describe("a client certificate", () => {
	test("names a user and its groups, whatever characters they have", async () => {
		const user = "O=system:masters,CN=ann + ü";
		expect(await statusWith(await signed(server.certificates, user, "dev", "a,b"))).toBe(200);
		expect(seen).toEqual({ commonName: user, organizations: ["dev", "a,b"] });
	});

	test("need not be shown", async () => {
		expect(await statusWith({})).toBe(200);
		expect(seen).toBeUndefined();
	});

	test("of system:masters may do everything, another nothing", async () => {
		const masters = await signed(server.certificates, "root", "system:masters");
		expect(await statusWith(masters, "/api/v1/pods")).toBe(200);
		expect(await statusWith(await signed(server.certificates, "ann"), "/api/v1/pods")).toBe(403);
	});

	test("of another authority is refused", async () => {
		const folder = await mkdtemp(path.join(tmpdir(), "sliceplane-other-"));
		try {
			const other = await certificatesFor({ folder, addresses: [], nowMs });
			expect(await statusWith(await signed(other, "root", "system:masters"))).toBe(401);
			expect(seen).toBe("untrusted");
		} finally {
			await rm(folder, { recursive: true });
		}
	});

	test("of the server itself is none: it is not for clients", async () => {
		const { cert, key } = await testCertificates();
		expect(await statusWith({ cert, key })).toBe(401);
	});

	test("is good as long as the authority's own, and signs nothing", async () => {
		const { cert } = await signed(server.certificates, "ann");
		const leaf = new X509Certificate(cert);
		expect([leaf.ca, Date.parse(leaf.validTo) > nowMs]).toEqual([false, true]);
	});
});
