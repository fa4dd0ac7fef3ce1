/**
 * A small cluster of network namespaces, with real packets: two nodes and a client outside on one bridge, pods behind
 * the nodes.
 *
 *     ext 192.168.50.200 ──┐                 ┌── pa 10.244.1.10
 *     node 192.168.50.1  ──┤ bridge in lan   │   pb 10.244.1.11   behind node
 *     n2   192.168.50.2  ──┘                 └── pc 10.244.1.12
 *                                            ── rp 10.244.2.10   behind n2
 *
 * Needs root, or a user that may make namespaces; the names carry the process' id, and are removed at the end.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const AGENT = fileURLToPath(new URL("agent.mjs", import.meta.url));

/** Why there can be no lab on this machine; undefined when there can. */
export function labProblem(): string | undefined {
	if (process.platform !== "linux") return "network namespaces are Linux's";
	const name = `sp-${process.pid}-probe`;
	try {
		execFileSync("ip", ["netns", "add", name], { stdio: "pipe" });
		execFileSync("ip", ["netns", "exec", name, "nft", "list", "tables"], { stdio: "pipe" });
		return undefined;
	} catch (error) {
		return `network namespaces with nft: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
	} finally {
		try {
			execFileSync("ip", ["netns", "del", name], { stdio: "pipe" });
		} catch {
			// It could not be made.
		}
	}
}

export interface Ask {
	readonly protocol?: "tcp" | "udp";
	readonly host: string;
	readonly port: number;
	readonly times?: number;
	readonly atOnce?: boolean;
	readonly source?: string;
	readonly sourcePort?: number;
	readonly timeoutMs?: number;
}

export class Agent {
	readonly #child: ChildProcess;
	readonly #waiting = new Map<number, (result: unknown) => void>();
	#next = 1;

	constructor(namespace: string) {
		this.#child = spawn("ip", ["netns", "exec", namespace, process.execPath, AGENT], {
			stdio: ["pipe", "pipe", "inherit"],
		});
		if (this.#child.stdout === null) throw new Error("an agent without stdout");
		createInterface({ input: this.#child.stdout }).on("line", (line) => {
			const { id, result } = JSON.parse(line) as { id: number; result: unknown };
			this.#waiting.get(id)?.(result);
			this.#waiting.delete(id);
		});
	}

	serve(how: { name: string; tcp?: number; udp?: number; host?: string }): Promise<unknown> {
		return this.#do("serve", how);
	}

	/** One word for each time: `pa from 10.244.1.12`, `refused`, `timeout`. */
	ask(how: Ask): Promise<readonly string[]> {
		return this.#do("ask", how) as Promise<readonly string[]>;
	}

	hold(key: string, host: string, port: number): Promise<unknown> {
		return this.#do("hold", { key, host, port });
	}

	say(key: string): Promise<unknown> {
		return this.#do("say", { key });
	}

	stop(): Promise<void> {
		return new Promise((resolve) => {
			this.#child.once("exit", () => resolve());
			this.#child.stdin?.end();
		});
	}

	#do(deed: string, how: object): Promise<unknown> {
		const id = this.#next++;
		return new Promise((resolve) => {
			this.#waiting.set(id, resolve);
			this.#child.stdin?.write(`${JSON.stringify({ id, do: deed, ...how })}\n`);
		});
	}
}

const HOSTS = { node: 1, n2: 2, ext: 200 } as const;
const PODS = { pa: ["node", "1.10"], pb: ["node", "1.11"], pc: ["node", "1.12"], rp: ["n2", "2.10"] } as const;

function sixOf(tail: string): string {
	const [subnet = "", last = ""] = tail.split(".");
	return `fd00:244:${subnet}::${last}`;
}

type Place = keyof typeof HOSTS | keyof typeof PODS;

export class Lab {
	readonly #prefix: string = `sp-${process.pid}`;
	readonly #agents = new Map<Place, Agent>();

	static async start(): Promise<Lab> {
		const lab = new Lab();
		try {
			lab.#build();
			for (const place of [...Object.keys(HOSTS), ...Object.keys(PODS)] as Place[]) {
				lab.#agents.set(place, new Agent(lab.namespaceOf(place)));
			}
			for (const name of Object.keys(PODS) as (keyof typeof PODS)[]) {
				await lab.at(name).serve({ name, tcp: 8080, host: "::" });
				await lab.at(name).serve({ name, udp: 5353, host: "0.0.0.0" });
			}
			await lab.#warmUp();
			return lab;
		} catch (error) {
			await lab.stop();
			throw error;
		}
	}

	/** Until every pod is reached from every host: neighbours are known then, and the bridge has learnt its ports. */
	async #warmUp(): Promise<void> {
		for (const from of [...(Object.keys(HOSTS) as (keyof typeof HOSTS)[]), "pc" as const]) {
			for (const [, tail] of Object.values(PODS)) {
				// From outside there is no route to pods: the nodes are met by their own addresses.
				const hosts = from === "ext" ? ["192.168.50.1", "fd00:50::1"] : [`10.244.${tail}`, sixOf(tail)];
				for (const host of hosts) await this.#reach(from, host);
			}
		}
	}

	async #reach(from: Place, host: string): Promise<void> {
		for (let tries = 0; tries < 20; tries++) {
			const [word] = await this.at(from).ask({ host, port: 8080 });
			if (word !== "timeout") return;
		}
		throw new Error(`${host} is not reached from ${from}`);
	}

	at(place: Place): Agent {
		const agent = this.#agents.get(place);
		if (agent === undefined) throw new Error(`no agent at ${place}`);
		return agent;
	}

	namespaceOf(place: Place | "lan"): string {
		return `${this.#prefix}-${place}`;
	}

	/** Runs a program in the namespace; its output. */
	run(place: Place, ...words: readonly string[]): string {
		return execFileSync("ip", ["netns", "exec", this.namespaceOf(place), ...words], { encoding: "utf8" });
	}

	async stop(): Promise<void> {
		await Promise.all([...this.#agents.values()].map((agent) => agent.stop()));
		for (const place of ["lan", ...Object.keys(HOSTS), ...Object.keys(PODS)] as (Place | "lan")[]) {
			try {
				execFileSync("ip", ["netns", "del", this.namespaceOf(place)], { stdio: "pipe" });
			} catch {
				// It was not made.
			}
		}
	}

	#build(): void {
		for (const place of ["lan", ...Object.keys(HOSTS), ...Object.keys(PODS)] as (Place | "lan")[]) {
			execFileSync("ip", ["netns", "add", this.namespaceOf(place)]);
			this.#ip(place, "link set lo up");
			this.#sysctl(place, "net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0");
		}
		this.#ip("lan", "link add br0 type bridge");
		this.#ip("lan", "link set br0 up");
		for (const [host, last] of Object.entries(HOSTS) as [keyof typeof HOSTS, number][]) this.#host(host, last);
		for (const [pod, [host, tail]] of Object.entries(PODS) as [keyof typeof PODS, (typeof PODS)[keyof typeof PODS]][]) {
			this.#pod(pod, host, tail);
		}
		this.#ip("node", "route add 10.244.2.0/24 via 192.168.50.2");
		this.#ip("node", "-6 route add fd00:244:2::/64 via fd00:50::2");
		this.#ip("n2", "route add 10.244.1.0/24 via 192.168.50.1");
		this.#ip("n2", "-6 route add fd00:244:1::/64 via fd00:50::1");
		for (const range of ["10.96.0.0/16", "203.0.113.0/24"]) this.#ip("ext", `route add ${range} via 192.168.50.1`);
		this.#ip("ext", "-6 route add fd00:96::/112 via fd00:50::1");
	}

	#host(host: keyof typeof HOSTS, last: number): void {
		const lan = this.namespaceOf("lan");
		this.#ip("lan", `link add v-${host} type veth peer name eth0 netns ${this.namespaceOf(host)}`);
		execFileSync("ip", ["-n", lan, "link", "set", `v-${host}`, "master", "br0", "up"]);
		this.#ip(host, `addr add 192.168.50.${last}/24 dev eth0`);
		this.#ip(host, `-6 addr add fd00:50::${last}/64 dev eth0 nodad`);
		this.#ip(host, "link set eth0 up");
		this.#sysctl(host, "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1");
		this.#sysctl(host, "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0");
		// Without a default route packets to cluster IPs never get as far as the rules.
		if (host !== "ext") {
			this.#ip(host, "route add default via 192.168.50.254");
			this.#ip(host, "-6 route add default via fd00:50::fe");
		}
	}

	#pod(pod: keyof typeof PODS, host: "node" | "n2", tail: string): void {
		const [subnet = "", last = ""] = tail.split(".");
		this.#ip(host, `link add veth-${pod} type veth peer name eth0 netns ${this.namespaceOf(pod)}`);
		this.#ip(host, `link set veth-${pod} up`);
		this.#sysctl(host, `net.ipv4.conf.veth-${pod}.proxy_arp=1`);
		this.#ip(host, `route add 10.244.${tail}/32 dev veth-${pod}`);
		this.#ip(host, `-6 addr add fe80::1/64 dev veth-${pod} nodad`);
		this.#ip(host, `-6 route add fd00:244:${subnet}::${last}/128 dev veth-${pod}`);
		this.#ip(pod, "link set eth0 up");
		this.#ip(pod, `addr add 10.244.${tail}/32 dev eth0`);
		this.#ip(pod, "route add 169.254.1.1 dev eth0");
		this.#ip(pod, "route add default via 169.254.1.1");
		this.#ip(pod, `-6 addr add fd00:244:${subnet}::${last}/128 dev eth0 nodad`);
		this.#ip(pod, "-6 route add default via fe80::1 dev eth0");
	}

	#ip(place: Place | "lan", words: string): void {
		execFileSync("ip", ["-n", this.namespaceOf(place), ...words.split(" ")]);
	}

	#sysctl(place: Place | "lan", ...settings: readonly string[]): void {
		execFileSync("ip", ["netns", "exec", this.namespaceOf(place), "sysctl", "-qw", ...settings]);
	}
}
