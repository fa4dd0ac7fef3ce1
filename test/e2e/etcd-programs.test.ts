/** The programs on one real etcd, over TLS: several at once, one that goes, and an etcd that goes or is not to be had. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONFIG_MAPS, ENDPOINTS, LEASES, NODES } from "../../src/api/resource-names.ts";
import type { Lease } from "../../src/api/types/coordination.ts";
import type { ConfigMap, Endpoints } from "../../src/api/types/core.ts";
import type { EtcdStore } from "../../src/edge/etcd/open-etcd-store.ts";
import { ignoreNotFound } from "../../src/machinery/expected-errors.ts";
import { EtcdProcess, etcdProblem } from "../../src/testing/etcd-process.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import { openEtcd } from "../../src/wiring/open-etcd.ts";
import { systemPorts } from "../../src/wiring/system-ports.ts";
import { Part } from "./parts.ts";
import { eventually, finished, PROGRAM, RunningPlane } from "./plane.ts";

const problem = etcdProblem();
if (problem !== undefined) process.stderr.write(`skipped: sliceplane up on etcd: ${problem}\n`);

/** A certificate that is its own authority. */
function selfSigned(folder: string, name = "IP:127.0.0.1"): { readonly cert: string; readonly key: string } {
	const [cert, key] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
	const made = spawnSync("openssl", [
		...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
		...["-subj", "/CN=etcd", "-addext", `subjectAltName=${name}`, "-keyout", key, "-out", cert],
	]);
	if (made.status !== 0) throw new Error(String(made.stderr));
	return { cert, key };
}

const hasTools = ["openssl", "curl"].every((tool) => spawnSync(tool, ["version"]).error === undefined);
if (!hasTools) process.stderr.write("skipped: sliceplane up on etcd: no openssl, or no curl\n");

describe.skipIf(problem !== undefined || !hasTools)("sliceplane up on etcd", () => {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-etcd-up-"));
	const alone = ["--nodes", "0", "--network", "none", "--controllers", "-scheduler"];
	let etcd: EtcdProcess;
	let flags: readonly string[];
	beforeAll(async () => {
		const { cert, key } = selfSigned(folder);
		const tls = ["--cert-file", cert, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", cert];
		etcd = await EtcdProcess.start(tls);
		const files = ["--etcd-cafile", cert, "--etcd-certfile", cert, "--etcd-keyfile", key];
		flags = ["--etcd-servers", etcd.url, "--etcd-prefix", "/shop", ...files];
	});
	afterAll(async () => {
		await etcd.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	test("two API servers are one cluster, over TLS, and one that starts later knows it", async () => {
		const planes = await Promise.all([
			RunningPlane.start([...alone, ...flags]),
			RunningPlane.start([...alone, ...flags]),
		]);
		const [a, b] = await Promise.all(planes.map(({ kubeconfig }) => clusterClient({ kubeconfig })));
		if (a === undefined || b === undefined) throw new Error("no clients");
		for (let index = 0; index < 20; index++) {
			const [one, other] = index % 2 === 0 ? [a, b] : [b, a];
			await one.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name: `c${index}` } });
			const read = await other.get<ConfigMap>(CONFIG_MAPS, { namespace: "default", name: `c${index}` });
			await other.update<ConfigMap>(CONFIG_MAPS, { ...read, data: { a: "b" } });
			const now = await one.get<ConfigMap>(CONFIG_MAPS, { namespace: "default", name: `c${index}` });
			expect(now.data).toEqual({ a: "b" });
		}
		for (const client of [a, b]) client.close();
		// Nor does Node warn of anything, such as of an address that is asked for as a name.
		for (const { stderr } of planes) expect(stderr).not.toMatch(/warning/i);
		await Promise.all(planes.map((plane) => plane.stop()));
		const third = await RunningPlane.start([...alone, ...flags]);
		const client = await clusterClient({ kubeconfig: third.kubeconfig });
		expect((await client.list<ConfigMap>(CONFIG_MAPS, { namespace: "default" })).items).toHaveLength(20);
		client.close();
		expect(await third.stop()).toBe(0);
	});

	test("a plane and an API server alone agree on where the API is, and neither writes it again", async () => {
		const kept = ["--controllers", "kubernetes-service-controller"];
		const plane = await RunningPlane.start(["--nodes", "0", "--network", "none", ...kept, ...flags]);
		const file = path.join(folder, "beside");
		const server = await new Part(["apiserver", "--listen", "127.0.0.1:0", "--kubeconfig", file, ...flags]).ready();
		const client = await clusterClient({ kubeconfig: file });
		const ports = [plane.url, server.stdout].map((text) => Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]));
		const place = { namespace: "default", name: "kubernetes" };
		const endpoints = () => ignoreNotFound(client.get<Endpoints>(ENDPOINTS, place));
		const portsOf = (now: Endpoints | undefined) =>
			(now?.subsets ?? []).flatMap((each) => (each.ports ?? []).map(({ port }) => port));
		const both = await eventually(endpoints, (now) => portsOf(now).join() === ports.toSorted((a, b) => a - b).join());
		// Both have looked again when both have renewed their Leases.
		const renewals = async (): Promise<readonly string[]> =>
			(await client.list<Lease>(LEASES, { namespace: "kube-system" })).items
				.filter(({ metadata: { labels } }) => labels?.["apiserver.kubernetes.io/identity"] !== undefined)
				.map(({ spec }) => spec?.renewTime ?? "");
		const before = await renewals();
		expect(before).toHaveLength(2);
		await eventually(renewals, (now) => now.every((time) => !before.includes(time)));
		expect((await endpoints())?.metadata.resourceVersion).toBe(both?.metadata.resourceVersion);
		client.close();
		await Promise.all([plane.stop(), server.end()]);
	});

	test("of two whole planes one works, and the other one does when that is gone", async () => {
		const plane = (name: string): Part => {
			const file = path.join(folder, name);
			const words = ["up", "--listen", "127.0.0.1:0", "--kubeconfig", file, "--nodes", "1", "--network", "none"];
			return new Part([...words, ...flags]);
		};
		const first = await plane("first").ready();
		const [second, third] = [plane("second"), plane("third")];
		const standsBy = (part: Part): Promise<string> =>
			eventually(
				() => Promise.resolve(part.stderr),
				(text) => /Standing by: \S+ holds the Lease kube-system\/sliceplane-controllers/.test(text),
			);
		await Promise.all([standsBy(second), standsBy(third)]);
		expect(await third.end()).toBe(0);
		const client = await clusterClient({ kubeconfig: path.join(folder, "second") });
		expect((await client.list(NODES, {})).items.map(({ metadata: { name } }) => name)).toEqual(["n1"]);
		expect(second.stdout).toBe("");
		expect(await first.end()).toBe(0);
		await second.ready();
		client.close();
		expect(await second.end()).toBe(0);
	});

	test("is not ready while etcd is away, and ready when it is back", async () => {
		const plane = await RunningPlane.start([...alone, ...flags]);
		const ready = async (): Promise<string> => (await finished("curl", ["-sk", `${plane.url}/readyz`])).stdout;
		expect(await ready()).toBe("ok");
		await etcd.kill();
		await eventually(ready, (text) => text.includes("[-]etcd failed"));
		const client = await clusterClient({ kubeconfig: plane.kubeconfig });
		await client.get(CONFIG_MAPS, { namespace: "default", name: "c0" }).then(
			() => expect.unreachable(),
			({ code }: { readonly code: number }) => expect([500, 503, 504]).toContain(code),
		);
		await etcd.restart();
		await eventually(
			() => client.list(CONFIG_MAPS, { namespace: "default" }).then(() => "", String),
			(problem) => problem === "",
		);
		await eventually(ready, (text) => text === "ok");
		client.close();
		await plane.stop();
	});

	test("a mistake with TLS is told with its cause and its flag, in bounded time", async () => {
		const [own, other] = [path.join(folder, "cert.pem"), path.join(folder, "other")];
		mkdirSync(other);
		const { cert, key } = selfSigned(other);
		const [plain, named] = [await EtcdProcess.start(), path.join(folder, "named")];
		mkdirSync(named);
		const ofName = selfSigned(named, "DNS:localhost");
		const byName = await EtcdProcess.start(["--cert-file", ofName.cert, "--key-file", ofName.key]);
		const secure = plain.url.replace("http:", "https:");
		const [caFile, certFile, keyFile] = [own, own, path.join(folder, "key.pem")];
		const cases = [
			[etcd.url, {}, "its certificate is not trusted: want --etcd-cafile"],
			[etcd.url, { caFile: cert }, "its certificate is not trusted: it is not signed by --etcd-cafile"],
			[etcd.url, { caFile }, "it wants a certificate of its clients: want --etcd-certfile and --etcd-keyfile"],
			[etcd.url, { caFile, certFile: cert, keyFile: key }, "it does not take the certificate of --etcd-certfile"],
			[etcd.url.replace("127.0.0.1", "localhost"), { caFile, certFile, keyFile }, "is for other names than the one in"],
			[byName.url, { caFile: ofName.cert }, "is for other names than the one in"],
			[etcd.url.replace("https:", "http:"), {}, "it closes connections without TLS: want https:// in --etcd-servers"],
			[secure, { caFile }, "it does not speak TLS: want http:// in --etcd-servers"],
			["https://127.0.0.1:1", {}, "nobody listens there (connection refused)"],
			[etcd.url, { caFile: keyFile }, `--etcd-cafile ${keyFile}: want certificates in PEM, found a PRIVATE KEY`],
			[etcd.url, { caFile, certFile, keyFile: key }, `--etcd-keyfile ${key}: want the key of the certificate in`],
		] as const;
		const open = (url: string, files: object): Promise<EtcdStore> => {
			const options = { servers: [url], prefix: "/shop", compactionIntervalMs: 0 };
			const none = { caFile: undefined, certFile: undefined, keyFile: undefined };
			return openEtcd({ ...options, ...none, ...files }, systemPorts("error"));
		};
		await Promise.all(
			cases.map(async ([url, files, why]) => {
				const told = await open(url, files).then(() => "opened", String);
				expect(told, `${url} ${JSON.stringify(files)}`).toContain(why);
			}),
		);
		await (await open(byName.url.replace("127.0.0.1", "localhost"), { caFile: ofName.cert })).close();
		for (const each of [plain, byName]) await each.stop();
	});

	test("an etcd that is not there is an error that says so, in bounded time", async () => {
		const args = [PROGRAM, "up", "--listen", "127.0.0.1:0", "--etcd-servers", "http://127.0.0.1:1"];
		const { status, stderr } = await finished(process.execPath, args, { cwd: folder });
		expect(status).toBe(1);
		expect(stderr).toContain("--etcd-servers http://127.0.0.1:1: etcd cannot be reached");
	});
});
