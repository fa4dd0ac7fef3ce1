/** A list of a large cluster is read item by item: 300 MB take less than 1 GB of memory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAM } from "../e2e/plane.ts";

const BYTES = 300 * 1000 * 1000;
const MEMORY_MIB_MAX = 1_000;
const SERVICES = 10_000;

const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-explain-"));
const file = path.join(folder, "all.json");

/** As kubectl prints it: indented, and with what nobody looks at. */
function* items(): Generator<unknown> {
	for (let index = 0; index < SERVICES; index++) {
		const ports = [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }];
		const spec = { clusterIP: "10.96.0.1", ipFamilies: ["IPv4"], selector: { app: `s-${index}` }, ports };
		yield { apiVersion: "v1", kind: "Service", metadata: { name: `s-${index}`, namespace: `ns-${index % 100}` }, spec };
	}
	for (let index = 0; ; index++) yield pod(index);
}

function pod(index: number) {
	const podIP = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
	const service = index % SERVICES;
	const env = Array.from({ length: 20 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `value ${at} of ${index}` }));
	const probe = { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, failureThreshold: 3 };
	const ports = [{ name: "http", containerPort: 8080, protocol: "TCP" }];
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: {
			name: `s-${service}-7d4b9c6d5f-${index}`,
			namespace: `ns-${service % 100}`,
			uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
			labels: { app: `s-${service}`, "pod-template-hash": "7d4b9c6d5f" },
			annotations: { "example.com/note": 'a "quoted" text '.repeat(8) },
		},
		spec: {
			nodeName: `n-${index % 500}`,
			containers: [{ name: "c", image: "registry.example/web:1.2.3", ports, env, readinessProbe: probe }],
		},
		status: {
			phase: "Running",
			podIP,
			podIPs: [{ ip: podIP }],
			conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
			containerStatuses: [{ name: "c", ready: true, started: true, restartCount: 0, image: "x", imageID: "" }],
		},
	};
}

beforeAll(async () => {
	const out = createWriteStream(file);
	let bytes = 0;
	for (const item of items()) {
		const text = `${bytes === 0 ? '{\n    "apiVersion": "v1",\n    "items": [\n' : ",\n"}${JSON.stringify(item, undefined, 4)}`;
		bytes += text.length;
		if (!out.write(text)) await once(out, "drain");
		if (bytes > BYTES) break;
	}
	out.end('\n    ],\n    "kind": "List"\n}\n');
	await once(out, "finish");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
	readonly status: number | null;
	readonly stdout: string;
	readonly stderr: string;
	readonly mostMiB: number;
}

/** The kernel keeps the most memory that a process ever had: it is read until it ends. */
async function explained(from: "file" | "stdin"): Promise<Ran> {
	const args = [PROGRAM, "explain", "-A", "-f", from === "file" ? file : "-"];
	const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
	let [stdout, stderr, mostMiB] = ["", "", 0];
	child.stdout.on("data", (chunk) => {
		stdout += String(chunk);
		mostMiB = Math.max(mostMiB, peakMiB(child.pid));
	});
	child.stderr.on("data", (chunk) => {
		stderr += String(chunk);
	});
	child.stdin.on("error", () => undefined);
	if (from === "stdin") createReadStream(file).pipe(child.stdin);
	else child.stdin.end();
	const looking = setInterval(() => {
		mostMiB = Math.max(mostMiB, peakMiB(child.pid));
	}, 20);
	const [status] = (await once(child, "close")) as [number | null];
	clearInterval(looking);
	return { status, stdout, stderr, mostMiB };
}

function peakMiB(pid: number | undefined): number {
	try {
		return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
	} catch {
		return 0;
	}
}

describe.skipIf(process.platform !== "linux")("300 MB of JSON", () => {
	test.each(["file", "stdin"] as const)("from %s take less than 1 GB of memory", async (from) => {
		const { stdout, stderr, mostMiB } = await explained(from);
		expect(stderr).toBe("");
		expect(stdout).toMatch(new RegExp(`\\n${SERVICES} Services: `));
		process.stdout.write(`explain -A of 300 MB from ${from}: ${Math.round(mostMiB)} MiB\n`);
		expect(mostMiB).toBeGreaterThan(50);
		expect(mostMiB).toBeLessThan(MEMORY_MIB_MAX);
	});

	test("that are cut off are refused with the place", async () => {
		truncateSync(file, BYTES / 2);
		const { status, stdout, stderr } = await explained("file");
		expect(stderr).toMatch(/all\.json: line \d+, byte 150000000: want .*the file ends within item \d+/);
		expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
	});
});
