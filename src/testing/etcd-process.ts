/** A real etcd for tests, on loopback, in a folder of its own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { SystemClock } from "../edge/system-clock.ts";
import { assertDefined } from "../kernel/assert.ts";

/** Why there is no etcd to test with; undefined when there is one. */
export function etcdProblem(): string | undefined {
	return spawnSync("etcd", ["--version"]).status === 0 ? undefined : "no etcd on this machine";
}

export class EtcdProcess {
	readonly folder: string;
	readonly url: string;
	readonly #health: string;
	readonly #args: readonly string[];
	readonly #clock: SystemClock = new SystemClock();
	#child: ChildProcess | undefined;

	private constructor(folder: string, ports: readonly number[], flags: readonly string[]) {
		const [client, peer, health] = ports.map((port) => `127.0.0.1:${port}`);
		this.folder = folder;
		const isSecure = flags.includes("--cert-file");
		this.url = `http${isSecure ? "s" : ""}://${client}`;
		this.#health = `http://${health}`;
		const data = ["--data-dir", path.join(folder, "data"), "--log-level", "error"];
		const clients = ["--listen-client-urls", this.url, "--advertise-client-urls", this.url];
		const peers = ["--listen-peer-urls", `http://${peer}`, "--initial-advertise-peer-urls", `http://${peer}`];
		const cluster = ["--initial-cluster", `default=http://${peer}`, "--listen-metrics-urls", this.#health];
		this.#args = [...data, ...clients, ...peers, ...cluster, ...flags];
	}

	/** Resolves when it answers. */
	static async start(flags: readonly string[] = []): Promise<EtcdProcess> {
		const process = new EtcdProcess(mkdtempSync(path.join(tmpdir(), "sliceplane-etcd-")), await freePorts(3), flags);
		await process.restart();
		return process;
	}

	/** Starts it with what it has on disk; it must have ended. Resolves when it answers. */
	async restart(): Promise<void> {
		const child = spawn("etcd", [...this.#args], { stdio: "ignore" });
		this.#child = child;
		for (;;) {
			if (child.exitCode !== null || child.signalCode !== null) {
				throw new Error(`etcd ended with ${child.exitCode}: etcd ${this.#args.join(" ")}`);
			}
			const health = await fetch(`${this.#health}/health`).catch(() => undefined);
			if (health?.ok === true) return;
			await this.#clock.sleep(20);
		}
	}

	/** SIGSTOP makes it silent, SIGCONT lets it go on. */
	signal(signal: NodeJS.Signals): void {
		assertDefined(this.#child, "a running etcd").kill(signal);
	}

	/** As if the machine had lost its power. */
	async kill(): Promise<void> {
		const child = this.#child;
		if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
		const exited = once(child, "exit");
		child.kill("SIGKILL");
		await exited;
	}

	async stop(): Promise<void> {
		await this.kill();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** That are free now. */
async function freePorts(count: number): Promise<readonly number[]> {
	const servers = Array.from({ length: count }, () => createServer());
	const ports: number[] = [];
	for (const server of servers) {
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		const address = server.address();
		ports.push(typeof address === "object" && address !== null ? address.port : 0);
	}
	for (const server of servers) server.close();
	return ports;
}
