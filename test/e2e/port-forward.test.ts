/** kubectl port-forward, by SPDY (up to 1.30) and through a WebSocket (1.31 and on). */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { eventually, RunningPlane } from "./plane.ts";

const versions = (await kubectlVersions()).filter(({ name }) => /1\.(30|35)$/.test(name));

/** Sends bytes, closes its side, and resolves with everything that comes back. */
function echoed(port: number, bytes: Buffer): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
		socket.on("data", (chunk) => chunks.push(chunk));
		socket.on("error", reject);
		socket.on("end", () => resolve(Buffer.concat(chunks)));
		socket.end(bytes);
	});
}

describe.each(versions)("$name port-forward", ({ path: binary, missing }) => {
	let plane: RunningPlane;
	let forward: ChildProcess | undefined;
	let output = "";
	let port: number;

	async function start(target: string, ports: string): Promise<void> {
		forward?.kill();
		output = "";
		const env = { ...process.env, HOME: path.join(plane.folder, path.basename(binary)), KUBECONFIG: plane.kubeconfig };
		forward = spawn(binary, ["port-forward", target, ports], { env });
		const listen = (chunk: Buffer): void => {
			output += String(chunk);
		};
		forward.stdout?.on("data", listen);
		forward.stderr?.on("data", listen);
		const shown = await eventually(
			async () => output,
			(text) => /127\.0\.0\.1:\d+/.test(text),
			{ what: "forwarding" },
		);
		port = Number(/127\.0\.0\.1:(\d+)/.exec(shown)?.[1]);
	}

	beforeAll(async () => {
		if (missing !== undefined) return;
		plane = await RunningPlane.start(["--nodes", "1", "--runtime", "process"]);
		await plane.kubectl(binary, ["create", "deployment", "web", "--image=x", "--port=8080"]);
		await plane.kubectl(binary, ["expose", "deployment", "web", "--port=80", "--target-port=8080"]);
		await plane.kubectl(binary, ["rollout", "status", "deployment/web", "--timeout=30s"]);
	});
	afterAll(async () => {
		forward?.kill();
		await plane?.stop();
	});

	test.skipIf(missing !== undefined)("carries HTTP to a pod", async () => {
		await start("deployment/web", ":8080");
		expect((await (await fetch(`http://127.0.0.1:${port}/hostname`)).text()).trim()).toMatch(/^web-\w+-\w{5}$/);
	});

	test.skipIf(missing !== undefined)("carries a Service's port to the target port of a pod", async () => {
		await start("service/web", ":80");
		const answer: unknown = await (await fetch(`http://127.0.0.1:${port}/`)).json();
		expect(answer).toMatchObject({ port: 8080 });
	});

	test.skipIf(missing !== undefined)(
		"carries megabytes and half-closed connections, several at once, to the last byte",
		async () => {
			await start("deployment/web", ":7");
			// Not HTTP from the first byte on, so the pod echoes it.
			const bytes = Array.from({ length: 3 }, () => Buffer.concat([Buffer.from("raw "), randomBytes(1024 * 1024)]));
			const back = await Promise.all(bytes.map((sent) => echoed(port, sent)));
			for (const [index, received] of back.entries())
				expect(received.equals(bytes[index] ?? Buffer.alloc(0))).toBe(true);
		},
	);

	test.skipIf(missing !== undefined)("says so when nothing listens at the pod's port", async () => {
		const containers = [{ name: "c", image: "x", command: ["sleep", "600"], ports: [{ containerPort: 8080 }] }];
		const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "mute" }, spec: { containers } };
		await plane.kubectl(binary, ["apply", "-f", "-"], JSON.stringify(pod));
		await plane.kubectl(binary, ["wait", "--for=condition=Ready", "pod/mute", "--timeout=30s"]);
		for (const podPort of [8080, 81]) {
			await start("pod/mute", `:${podPort}`);
			await echoed(port, Buffer.from("x")).catch(() => undefined);
			await eventually(
				async () => output,
				(text) =>
					new RegExp(
						`an error occurred forwarding ${port} -> ${podPort}: error forwarding port ${podPort} to pod.*ECONNREFUSED`,
					).test(text),
				{ what: "the error" },
			);
		}
	});

	test.skipIf(missing !== undefined)("is refused for a pod that is not there, in a real server's words", async () => {
		const refused = await plane.kubectl(binary, ["port-forward", "pod/nobody", ":80"]);
		expect(refused).toMatchObject({ status: 1, stderr: 'Error from server (NotFound): pods "nobody" not found\n' });
	});
});
