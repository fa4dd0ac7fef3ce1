/** The program `nft`: rules go in as text, and come out as JSON. */
import { spawn } from "node:child_process";
import { CONTAINER_NAMES } from "../plan/nft/base-ruleset.ts";
import type { Listing } from "../plan/nft/nft-state.ts";
import { type AffinitySet, type Container, isAffinitySet, type NftElement } from "../plan/nft/objects.ts";
import type { KernelRules, LoadResult } from "../proxy/kernel-rules.ts";
import { systemReason } from "./system-reason.ts";

export interface NftProgramOptions {
	readonly family: "ip" | "ip6";
	readonly table: string;
	/** The program and what stands before its arguments, such as `ip netns exec n1 nft`. */
	readonly command?: readonly string[];
}

/** A transaction that takes longer has hung. */
const RUN_MS_MAX = 60_000;
/** Of a listing, and of an error: what is longer is not read. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const ERROR_CHARACTERS_MAX = 500;

/** In place of an exit status, which is never less than 0. */
const PROGRAM_MISSING = -2;

interface Ran {
	readonly status: number;
	readonly stdout: string;
	readonly stderr: string;
}

export class NftProgram implements KernelRules {
	readonly #family: "ip" | "ip6";
	readonly #table: string;
	readonly #command: readonly string[];

	constructor({ family, table, command = ["nft"] }: NftProgramOptions) {
		this.#family = family;
		this.#table = table;
		this.#command = command;
	}

	/** Rejects with a sentence for people when the program is missing or may not be used. */
	async probe(): Promise<void> {
		const { status, stderr } = await this.#run(["list", "tables"], "");
		if (status === 0) return;
		if (status === PROGRAM_MISSING) {
			throw new Error(`${shortened(stderr)}; rules are made by it: install it (Debian: apt-get install nftables)`);
		}
		throw new Error(`nft may not be used: ${shortened(stderr)}; it takes root, or the capability CAP_NET_ADMIN`);
	}

	async load(text: string): Promise<LoadResult> {
		const { status, stderr } = await this.#run(["-f", "-"], text);
		return status === 0 ? { kind: "loaded" } : { kind: "failed", message: shortened(stderr) };
	}

	async chains(): Promise<readonly string[]> {
		const chains = objectsOf(await this.#run(["-j", "list", "chains", this.#family], ""), "chain");
		return chains.filter(({ table }) => table === this.#table).map(({ name = "" }) => name);
	}

	async list(): Promise<Listing | undefined> {
		const chains = await this.chains();
		const sets = objectsOf(await this.#run(["-j", "-t", "list", "sets", this.#family], ""), "set");
		// A table of this proxy is never without its fixed chains.
		if (chains.length === 0) return undefined;
		const elements = await this.elements();
		return {
			chains,
			affinitySets: sets.filter(({ table }) => table === this.#table).flatMap(affinitySetOf),
			// Which addresses accept node ports is written anew with the fixed rules.
			elements: elements.filter(({ container }) => container !== "nodeport-ips"),
		};
	}

	async elements(): Promise<readonly NftElement[]> {
		const elements: NftElement[] = [];
		for (const container of CONTAINER_NAMES) elements.push(...(await this.#elementsOf(container)));
		return elements;
	}

	async ruleCounts(): Promise<ReadonlyMap<string, number> | undefined> {
		const ran = await this.#run(["-j", "-t", "list", "table", this.#family, this.#table], "");
		if (ran.status !== 0) return undefined;
		const counts = new Map(objectsOf(ran, "chain").map(({ name = "" }) => [name, 0]));
		for (const { chain = "" } of objectsOf(ran, "rule")) counts.set(chain, (counts.get(chain) ?? 0) + 1);
		return counts;
	}

	/** Removes the table, and with it every rule. */
	async remove(): Promise<LoadResult> {
		const at = `${this.#family} ${this.#table}`;
		// One that is not there cannot be deleted.
		return this.load(`add table ${at}\ndelete table ${at}\n`);
	}

	async #elementsOf(container: Container): Promise<readonly NftElement[]> {
		const isMap = container.startsWith("service-") || container.startsWith("no-") || container.startsWith("firewall-");
		const kind = isMap ? "map" : "set";
		const ran = await this.#run(["-j", "list", kind, this.#family, this.#table, container], "");
		return objectsOf(ran, kind).flatMap(({ elem = [] }) => elem.flatMap((each) => elementOf(container, isMap, each)));
	}

	#run(args: readonly string[], input: string): Promise<Ran> {
		const [program = "nft", ...before] = this.#command;
		return new Promise((resolve) => {
			const child = spawn(program, [...before, ...args], {
				env: { PATH: process.env["PATH"], LC_ALL: "C" },
			});
			// The option `timeout` would go on for a program that could not be started, and keep this one from its end.
			const hung = setTimeout(() => child.kill("SIGKILL"), RUN_MS_MAX);
			const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
			let bytes = 0;
			const keep = (to: Buffer[]) => (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes <= OUTPUT_BYTES_MAX) to.push(chunk);
			};
			child.stdout?.on("data", keep(output.stdout));
			child.stderr?.on("data", keep(output.stderr));
			child.once("error", (error) => {
				clearTimeout(hung);
				resolve({ status: PROGRAM_MISSING, stdout: "", stderr: `cannot run ${program}: ${systemReason(error)}` });
			});
			child.once("close", (status, signal) => {
				clearTimeout(hung);
				const stderr = Buffer.concat(output.stderr).toString("utf8");
				const why = signal === null ? stderr : `${program} was ended by ${signal} after ${RUN_MS_MAX / 1_000} s`;
				resolve({ status: status ?? -1, stdout: Buffer.concat(output.stdout).toString("utf8"), stderr: why });
			});
			child.stdin?.on("error", () => undefined);
			child.stdin?.end(input);
		});
	}
}

/** What is read of an object of `nft -j`. */
interface NftJson {
	readonly name?: string;
	readonly table?: string;
	/** Of a rule. */
	readonly chain?: string;
	readonly timeout?: number;
	readonly elem?: readonly unknown[];
}

function objectsOf({ status, stdout }: Ran, kind: "chain" | "rule" | "set" | "map"): readonly NftJson[] {
	if (status !== 0) return [];
	const { nftables = [] } = JSON.parse(stdout) as { nftables?: readonly Record<string, NftJson>[] };
	return nftables.flatMap((object) => object[kind] ?? []);
}

function affinitySetOf({ name = "", timeout = 0 }: NftJson): readonly AffinitySet[] {
	return isAffinitySet(name) ? [{ name, timeoutSeconds: timeout }] : [];
}

function elementOf(container: Container, isMap: boolean, json: unknown): readonly NftElement[] {
	if (!isMap) return [{ container, key: keyText(json) }];
	const [key, verdict] = json as readonly [unknown, { readonly goto?: { readonly target: string } }];
	return [
		{ container, key: keyText(key), verdict: verdict.goto === undefined ? "drop" : `goto ${verdict.goto.target}` },
	];
}

/** `10.96.0.10 . tcp . 80` of `{"concat": ["10.96.0.10", "tcp", 80]}`; a comment is wrapped around it. */
function keyText(json: unknown): string {
	if (typeof json !== "object" || json === null) return String(json);
	const { concat, elem } = json as { concat?: readonly unknown[]; elem?: { readonly val: unknown } };
	return elem === undefined ? (concat ?? []).join(" . ") : keyText(elem.val);
}

function shortened(text: string): string {
	const [line = "", ...more] = text.trim().split("\n");
	return [line, ...more].join(" ").slice(0, ERROR_CHARACTERS_MAX);
}
