/** The table of connections, by the program `conntrack`. Without it stale flows stay until they are silent. */
import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { IPFamily } from "../api/types/meta.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Flow } from "../plan/service-map/stale-flows.ts";
import type { Flows } from "../proxy/kernel-rules.ts";

/** A flow with what names it to `conntrack -D`. */
export interface KernelFlow extends Flow {
	readonly source: { readonly ip: string; readonly port: string };
	readonly destination: { readonly ip: string; readonly port: string };
}

/** Of one list; what is beyond is looked at the next time. A table may hold a million. */
const FLOWS_MAX = 100_000;

export class Conntrack implements Flows<KernelFlow> {
	readonly #command: readonly string[];
	readonly #log: Logger;
	#isMissing = false;

	/** @param command The program, and what stands before its arguments. */
	constructor(log: Logger, command: readonly string[] = ["conntrack"]) {
		this.#log = log;
		this.#command = command;
	}

	list(family: IPFamily): Promise<readonly KernelFlow[]> {
		if (this.#isMissing) return Promise.resolve([]);
		const [program = "", ...before] = this.#command;
		const args = [...before, "-L", "-p", "udp", "-f", family.toLowerCase(), "-o", "extended"];
		return new Promise((resolve) => {
			const flows: KernelFlow[] = [];
			const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], env: environment() });
			child.once("error", () => {
				this.#isMissing = true;
				this.#log.warn("Without the program conntrack, UDP flows to endpoints that are gone go on", { program });
				resolve([]);
			});
			createInterface({ input: child.stdout }).on("line", (line) => {
				const flow = flows.length < FLOWS_MAX ? flowOf(line) : undefined;
				if (flow !== undefined) flows.push(flow);
			});
			child.once("close", () => resolve(flows));
		});
	}

	async cut(family: IPFamily, flows: readonly KernelFlow[]): Promise<number> {
		let gone = 0;
		for (const flow of flows) if (await this.#cutOne(family, flow)) gone++;
		return gone;
	}

	#cutOne(family: IPFamily, { source, destination }: KernelFlow): Promise<boolean> {
		const [program = "", ...before] = this.#command;
		const what = ["--orig-src", source.ip, "--orig-port-src", source.port];
		const where = ["--orig-dst", destination.ip, "--orig-port-dst", destination.port];
		const args = [...before, "-D", "-p", "udp", "-f", family.toLowerCase(), ...what, ...where];
		// One that is not there any more is no failure.
		return new Promise((resolve) => {
			execFile(program, args, { env: environment() }, (error) => resolve(error === null));
		});
	}
}

function environment(): NodeJS.ProcessEnv {
	return { PATH: process.env["PATH"], LC_ALL: "C" };
}

/**
 * The first four words are what the client sent, the next four what is answered:
 * `ipv4 2 udp 17 29 src=10.0.0.1 dst=10.96.0.53 sport=4000 dport=53 src=10.244.0.7 dst=10.0.0.1 sport=5353 dport=4000`.
 */
export function flowOf(line: string): KernelFlow | undefined {
	const words = [...line.matchAll(/\b(src|dst|sport|dport)=(\S+)/g)].map(([, name = "", value = ""]) => ({
		name,
		value,
	}));
	const original = new Map(words.slice(0, 4).map(({ name, value }) => [name, value]));
	const reply = new Map(words.slice(4, 8).map(({ name, value }) => [name, value]));
	const [source, destination] = [endOf(original, "src", "sport"), endOf(original, "dst", "dport")];
	const answering = endOf(reply, "src", "sport");
	if (source === undefined || destination === undefined || answering === undefined) return undefined;
	return {
		protocol: "udp",
		source,
		destination,
		originalDestination: textOf(destination),
		replySource: textOf(answering),
	};
}

function endOf(
	tuple: ReadonlyMap<string, string>,
	address: "src" | "dst",
	number: "sport" | "dport",
): KernelFlow["source"] | undefined {
	const [ip, port] = [tuple.get(address), tuple.get(number)];
	return ip === undefined || port === undefined ? undefined : { ip, port };
}

function textOf({ ip, port }: KernelFlow["source"]): string {
	return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
