/** What a real kubectl prints of the plane. */
import { execFile } from "node:child_process";
import path from "node:path";
import { servedApi } from "../../testing/served-api.ts";
import type { KubectlExpectation } from "../format/expectations.ts";
import { DEFAULT_NAMESPACE } from "../objects/drafts.ts";
import type { ScenarioRun } from "../run.ts";
import { type Problem, unless } from "./verdict.ts";

export interface KubectlOptions {
	/** Path of the program. */
	readonly program: string;
	/** Where certificates are kept. */
	readonly cacheFolder: string;
}

interface Output {
	readonly stdout: string;
	readonly stderr: string;
	readonly exit: number;
}

/** A kubectl that hangs is ended after this. */
const KUBECTL_MS_MAX = 30_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

export class Kubectl {
	readonly #options: KubectlOptions;
	#version: Promise<readonly number[]> | undefined;

	constructor(options: KubectlOptions) {
		this.#options = options;
	}

	async judge(run: ScenarioRun, wanted: KubectlExpectation, at: string): Promise<readonly Problem[]> {
		const { program } = this.#options;
		if (wanted.min_version !== undefined && isOlder(await this.#versionOf(program), wanted.min_version)) return [];
		const { stdout, stderr, exit } = await this.#output(program, run, words(wanted.args));
		const { contains = [], not_contains: lacks = [], counts = {}, stderr_counts: errorCounts = {} } = wanted;
		const said = stdout === "" ? stderr : stdout;
		return [
			...contains.flatMap((text) => unless(stdout.includes(text), `${at}.contains`, text, said)),
			...lacks.flatMap((text) => unless(!stdout.includes(text), `${at}.not_contains`, `no ${text}`, said)),
			...Object.entries(counts).flatMap(([text, count]) =>
				unless(timesIn(stdout, text) === count, `${at}.counts ${text}`, count, said),
			),
			...Object.entries(errorCounts).flatMap(([text, count]) =>
				unless(timesIn(stderr, text) === count, `${at}.stderr_counts ${text}`, count, stderr),
			),
			...unless(wanted.exit === undefined || wanted.exit === exit, `${at}.exit`, wanted.exit, exit),
		];
	}

	/** Serves the plane on a free port of loopback for as long as kubectl runs. */
	async #output(program: string, run: ScenarioRun, args: readonly string[]): Promise<Output> {
		const { api } = run.plane.server;
		const served = await servedApi((request) => api.handle(request), this.#options.cacheFolder);
		try {
			const cache = path.join(path.dirname(served.kubeconfig), "cache");
			const place = ["--kubeconfig", served.kubeconfig, "--cache-dir", cache];
			return await executed(program, [...place, "-n", DEFAULT_NAMESPACE, ...args]);
		} finally {
			await served.close();
		}
	}

	#versionOf(program: string): Promise<readonly number[]> {
		this.#version ??= executed(program, ["version", "--client", "-o", "json"]).then(({ stdout }) => {
			const { clientVersion } = JSON.parse(stdout) as { readonly clientVersion: Readonly<Record<string, string>> };
			return numbers(`${clientVersion["major"]}.${clientVersion["minor"]}`);
		});
		return this.#version;
	}
}

function executed(program: string, args: readonly string[]): Promise<Output> {
	const options = { timeout: KUBECTL_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX, encoding: "utf8" } as const;
	return new Promise((resolve) => {
		execFile(program, args, options, (error, stdout, stderr) => {
			const code = error === null ? 0 : error.code;
			resolve({
				stdout,
				stderr: stderr === "" && error !== null ? error.message : stderr,
				exit: typeof code === "number" ? code : 1,
			});
		});
	});
}

/** As a shell would part them: by spaces, but for what is in quotes. */
function words(args: string): readonly string[] {
	return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
		([, double, single, plain]) => double ?? single ?? plain ?? "",
	);
}

function timesIn(text: string, part: string): number {
	return text.split(part).length - 1;
}

function isOlder(version: readonly number[], wanted: string): boolean {
	const [major = 0, minor = 0] = version;
	const [wantedMajor = 0, wantedMinor = 0] = numbers(wanted);
	return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

function numbers(version: string): readonly number[] {
	return version.split(".").map((part) => Number.parseInt(part, 10));
}
