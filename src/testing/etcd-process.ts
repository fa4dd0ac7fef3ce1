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
	readonly #args: readonly string[];
	readonly #clock: SystemClock = new SystemClock();
	#child: ChildProcess | undefined;

	private constructor(folder: string, ports: readonly [number, number], flags: readonly string[]) {
		this.folder = folder;
		this.url = `http://127.0.0.1:${ports[0]}`;
		const peer = `http://127.0.0.1:${ports[1]}`;
		const data = path.join(folder, "data");
		const clients = ["--listen-client-urls", this.url, "--advertise-client-urls", this.url];
		const peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer];
		const cluster = ["--initial-cluster", `default=${peer}`];
		this.#args = ["--data-dir", data, ...clients, ...peers, ...cluster, "--log-level", "error", ...flags];
	}

	/** Resolves when it answers. */
	static async start(flags: readonly string[] = []): Promise<EtcdProcess> {
		const ports = await freePorts();
		const process = new EtcdProcess(mkdtempSync(path.join(tmpdir(), "sliceplane-etcd-")), ports, flags);
		await process.restart();
		return process;
	}

	/** Starts it with what it has on disk; it must have ended. Resolves when it answers. */
	async restart(): Promise<void> {
		const child = spawn("etcd", [...this.#args], { stdio: "ignore" });
		this.#child = child;
		const isOver = { ended: false };
		child.once("exit", () => {
			isOver.ended = true;
		});
		for (;;) {
			if (isOver.ended) throw new Error(`etcd ended with ${child.exitCode}: etcd ${this.#args.join(" ")}`);
			const health = await fetch(`${this.url}/health`).catch(() => undefined);
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

/** Two that are free now. */
async function freePorts(): Promise<readonly [number, number]> {
	const servers = [createServer(), createServer()] as const;
	const ports = await Promise.all(
		servers.map(async (server) => {
			server.listen(0, "127.0.0.1");
			await once(server, "listening");
			const address = server.address();
			return typeof address === "object" && address !== null ? address.port : 0;
		}),
	);
	for (const server of servers) server.close();
	return [ports[0] ?? 0, ports[1] ?? 0];
}
