/** The gateway of a running plane, asked by curl as any program would. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Finished, finished, PROGRAM } from "./plane.ts";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) process.stderr.write("skipped: gateway by curl: no curl on this machine\n");

const MANIFESTS = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {serviceName: db, replicas: 2, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: x}]}}}
`;

/** One line of output for each question; each is asked again until it is answered, for a while. */
const SCRIPT = `
ask() { n=0; until out=$(curl -sf -m 3 "$@") || [ $n -ge 50 ]; do n=$((n+1)); sleep 0.2; done; echo "$out"; }
ask http://web/hostname
ask http://web.default.svc.cluster.local/hostname
ask -p http://web/hostname
ask --proxy "$ALL_PROXY" http://web/hostname
ask http://db-1.db.default.svc.cluster.local:5432/hostname
ask --proxy "$ALL_PROXY" http://db-0.db:5432/hostname
curl -s -m 3 -o /dev/null -w '%{http_code}\\n' http://web:81/
curl -s -m 3 -o /dev/null -w '%{http_code}\\n' http://nope.default.svc/
curl -s -m 3 -o /dev/null -w '%{http_code}\\n' --proxy "http://x:y@\${HTTP_PROXY##*@}" http://web/
`;

describe.skipIf(!hasCurl)("up -- CMD", () => {
	let folder = "";
	let run: Finished;
	beforeAll(async () => {
		folder = mkdtempSync(path.join(tmpdir(), "sliceplane-gateway-"));
		const file = path.join(folder, "web.yaml");
		await writeFile(file, MANIFESTS);
		run = await finished(process.execPath, [
			PROGRAM,
			"up",
			"--listen",
			"127.0.0.1:0",
			"-f",
			file,
			"--",
			"sh",
			"-c",
			SCRIPT,
		]);
	});
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	test("reaches Services and StatefulSet pods by name, over HTTP and SOCKS5, with real bytes", () => {
		const lines = run.stdout.trim().split("\n");
		for (const line of lines.slice(0, 4)) expect(line).toMatch(/^web-[0-9a-z]+-[0-9a-z]{5}$/);
		expect(lines.slice(4, 6)).toEqual(["db-1", "db-0"]);
	});

	test("is refused where a cluster refuses, and without the right password", () => {
		expect(run.stdout.trim().split("\n").slice(6)).toEqual(["502", "502", "407"]);
	});
});
