/** Parts of the plane as programs of their own, each with an account of its own; what they ask of the API is written down. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { CACHE, eventually, PROGRAM } from "./plane.ts";

export interface Rule {
	readonly apiGroups: readonly string[];
	readonly resources: readonly string[];
	readonly resourceNames?: readonly string[];
	readonly verbs: readonly string[];
}

export interface Manifest {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: { readonly name: string; readonly namespace?: string };
	readonly rules?: readonly Rule[];
	readonly [field: string]: unknown;
}

/** The documents of deploy/PART.yaml. */
export function deployed(part: string): readonly Manifest[] {
	const documents = parseAllDocuments(readFileSync(`deploy/${part}.yaml`, "utf8"));
	return documents.map((document) => document.toJS() as Manifest);
}

/** `list services`, `get leases.coordination.k8s.io NAME`: one for each verb, resource and name. */
export function rightsOf(rule: Rule): readonly string[] {
	return rule.verbs.flatMap((verb) =>
		rule.apiGroups.flatMap((group) =>
			rule.resources.flatMap((resource) => {
				const right = `${verb} ${group === "" ? resource : `${resource}.${group}`}`;
				return rule.resourceNames === undefined ? [right] : rule.resourceNames.map((name) => `${right} ${name}`);
			}),
		),
	);
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** What the API asks its roles about a request, with the object's name behind it; undefined: about a path only. */
function askedRight(method: string, url: string): { readonly right: string; readonly name: string } | undefined {
	const { pathname, searchParams } = new URL(url, "http://api");
	const [, group = "", rest = ""] = /^\/(?:api|apis\/([^/]+))\/v[^/]+\/(.+)$/.exec(pathname) ?? [];
	if (rest === "") return undefined;
	const words = rest.split("/");
	const inside = words[0] === "namespaces" && words.length > 2 ? words.slice(2) : words;
	const [resource = "", name = "", subresource] = inside;
	const reading = searchParams.get("watch") === "true" ? "watch" : name === "" ? "list" : "get";
	const verb = method === "GET" ? reading : (VERBS[method] ?? method);
	const full = subresource === undefined ? resource : `${resource}/${subresource}`;
	return { right: `${verb} ${group === "" ? full : `${full}.${group}`}`, name };
}

export interface Asked {
	readonly right: string;
	readonly name: string;
	readonly status: number;
}

/** Between parts and their API: passes everything on, and remembers by whose token what was asked. */
class Recorder {
	readonly #server: Server;
	readonly #agent: Agent;
	readonly asked = new Map<string, Asked[]>();

	constructor(api: URL, ca: string) {
		this.#agent = new Agent({ keepAlive: true, ca });
		this.#server = createServer((incoming, outgoing) => {
			const { method = "", url = "", headers } = incoming;
			const options = { host: api.hostname, port: api.port, path: url, method, agent: this.#agent };
			const sent = request({ ...options, headers: { ...headers, host: api.host } }, (answer) => {
				this.#remember(headers.authorization ?? "", method, url, answer.statusCode ?? 0);
				outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
				outgoing.flushHeaders();
				answer.pipe(outgoing);
			});
			sent.on("error", () => outgoing.destroy());
			outgoing.on("close", () => sent.destroy());
			incoming.pipe(sent);
		});
	}

	#remember(authorization: string, method: string, url: string, status: number): void {
		const asked = askedRight(method, url);
		if (asked === undefined) return;
		const known = this.asked.get(authorization) ?? [];
		known.push({ ...asked, status });
		this.asked.set(authorization, known);
	}

	async listen(host: string): Promise<string> {
		this.#server.listen(0, host);
		await once(this.#server, "listening");
		return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
	}

	close(): void {
		this.#server.close();
		this.#server.closeAllConnections();
		this.#agent.destroy();
	}
}

export class Part {
	readonly #child: ChildProcess;
	stdout = "";
	stderr = "";

	constructor(words: readonly string[], { before = [], env = {} }: PartSurroundings = {}) {
		const [file = "", ...args] = [...before, process.execPath, PROGRAM, ...words];
		this.#child = spawn(file, args, { env: { ...process.env, XDG_CACHE_HOME: CACHE, ...env } });
		this.#child.stdout?.on("data", (chunk) => {
			this.stdout += String(chunk);
		});
		this.#child.stderr?.on("data", (chunk) => {
			this.stderr += String(chunk);
		});
	}

	/** Resolves when stdout has its line. Rejects when it ended before. */
	async ready(withinMs = 30_000): Promise<this> {
		const isOver = (): boolean => / (is|are) ready: /.test(this.stdout) || this.#child.exitCode !== null;
		await eventually(async () => this.stderr, isOver, { what: "not ready", withinMs });
		if (!/ready/.test(this.stdout)) throw new Error(`ended with ${this.#child.exitCode}: ${this.stderr}`);
		return this;
	}

	get status(): number | null {
		return this.#child.exitCode;
	}

	get isRunning(): boolean {
		return this.#child.exitCode === null && this.#child.signalCode === null;
	}

	signal(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	async exit(): Promise<number | null> {
		const { exitCode, signalCode } = this.#child;
		if (exitCode !== null || signalCode !== null) return exitCode;
		return (await once(this.#child, "exit"))[0];
	}

	end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
		this.signal(signal);
		return this.exit();
	}
}

export interface PartSurroundings {
	/** What the program is run by. */
	readonly before?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
}

export interface Answer {
	readonly status: number;
	readonly json: {
		readonly metadata?: Readonly<Record<string, unknown>>;
		readonly spec?: Readonly<Record<string, unknown>>;
		readonly status?: unknown;
		readonly items?: readonly Answer["json"][];
		readonly message?: string;
		readonly [field: string]: unknown;
	};
}

/** An API server of its own process, a recorder before it, and accounts for parts. */
export class PartsLab {
	readonly folder: string;
	readonly api: Part;
	readonly parts: Part[] = [];
	readonly #tokens = new Map<string, string>();
	readonly #recorders: Recorder[] = [];
	#accounts = 0;
	#agent = new Agent();
	#config = { server: "", ca: "", token: "" };
	/** Where parts find the API. */
	recorded = "";

	private constructor() {
		this.folder = mkdtempSync(path.join(tmpdir(), "sliceplane-parts-"));
		this.api = new Part(["apiserver", "--listen", "127.0.0.1:0", "--kubeconfig", this.kubeconfig]);
	}

	static async start(): Promise<PartsLab> {
		const lab = new PartsLab();
		await lab.api.ready();
		const { clusters, users } = JSON.parse(readFileSync(lab.kubeconfig, "utf8"));
		const { server, "certificate-authority-data": ca } = clusters[0].cluster;
		lab.#config = { server, ca: Buffer.from(ca, "base64").toString(), token: users[0].user.token };
		lab.#agent = new Agent({ keepAlive: true, maxSockets: 8, ca: lab.ca });
		lab.recorded = await lab.record("127.0.0.1");
		return lab;
	}

	/** Of the administrator. */
	get kubeconfig(): string {
		return path.join(this.folder, "admin.kubeconfig");
	}

	get server(): string {
		return this.#config.server;
	}

	get ca(): string {
		return this.#config.ca;
	}

	/** Another door to the API, recorded like the first. */
	async record(host: string): Promise<string> {
		const recorder = new Recorder(new URL(this.#config.server), this.#config.ca);
		this.#recorders.push(recorder);
		return recorder.listen(host);
	}

	/** As the administrator. */
	async ask(method: string, target: string, body?: unknown): Promise<Answer> {
		const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
		const headers = { authorization: `Bearer ${this.#config.token}`, "content-type": type };
		const sent = request(new URL(target, this.#config.server), { method, headers, agent: this.#agent });
		sent.end(body === undefined ? undefined : JSON.stringify(body));
		const [answer] = await once(sent, "response");
		let text = "";
		for await (const chunk of answer) text += String(chunk);
		return { status: answer.statusCode, json: JSON.parse(text) };
	}

	async make(target: string, body: unknown): Promise<void> {
		const { status, json } = await this.ask("POST", target, body);
		if (status !== 201) throw new Error(`POST ${target}: ${json.message}`);
	}

	/** Makes what of deploy/PART.yaml gives rights. */
	async give(part: string): Promise<void> {
		for (const document of deployed(part)) {
			if (isAboutRights(document)) await this.make(pathOf(document), document);
		}
	}

	/** The rules of one role of a part, until they are set again. */
	async setRules(role: Manifest, rules: readonly Rule[]): Promise<void> {
		const { status, json } = await this.ask("PATCH", `${pathOf(role)}/${role.metadata.name}`, { rules });
		if (status !== 200) throw new Error(json.message);
	}

	/** A kubeconfig of the account that deploy/PART.yaml makes, or, where it makes none, of one that has its role. */
	async accountOf(part: string, server: string = this.recorded): Promise<string> {
		const account = `sliceplane-${part}`;
		if (!deployed(part).some(({ kind }) => kind === "ServiceAccount")) await this.#bind(part, account);
		const { json } = await this.ask("POST", `/api/v1/namespaces/kube-system/serviceaccounts/${account}/token`, {});
		const { token } = json.status as { token: string };
		this.#tokens.set(part, token);
		return this.kubeconfigOf(server, token, part);
	}

	/** The file, of this name and a number. */
	kubeconfigOf(server: string, token: string, name = "user"): string {
		const file = path.join(this.folder, `${name}-${++this.#accounts}.kubeconfig`);
		const config = {
			clusters: [{ name: "c", cluster: { server } }],
			users: [{ name: "u", user: { token } }],
			contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
			"current-context": "c",
		};
		writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
		return file;
	}

	async #bind(part: string, account: string): Promise<void> {
		const metadata = { name: account, namespace: "kube-system" };
		await this.ask("POST", "/api/v1/namespaces/kube-system/serviceaccounts", { metadata });
		await this.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
			metadata: { name: account },
			subjects: [{ kind: "ServiceAccount", ...metadata }],
			roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `sliceplane-${part}` },
		});
	}

	tokenOf(part: string): string {
		return this.#tokens.get(part) ?? "";
	}

	/** What has been asked by a token; by default the last one of the part's account. */
	asked(part: string, token: string = this.tokenOf(part)): readonly Asked[] {
		return this.#recorders.flatMap(({ asked }) => asked.get(`Bearer ${token}`) ?? []);
	}

	start(words: readonly string[], surroundings?: PartSurroundings): Part {
		const part = new Part(words, surroundings);
		this.parts.push(part);
		return part;
	}

	async stop(): Promise<void> {
		for (const part of this.parts) part.signal("SIGCONT");
		await Promise.all(this.parts.map((part) => part.end("SIGKILL")));
		for (const recorder of this.#recorders) recorder.close();
		this.#agent.destroy();
		await this.api.end();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

export function isAboutRights({ apiVersion, kind }: Manifest): boolean {
	return kind === "ServiceAccount" || apiVersion.startsWith("rbac.");
}

const PLURALS: Readonly<Record<string, string>> = {
	ServiceAccount: "serviceaccounts",
	ClusterRole: "clusterroles",
	ClusterRoleBinding: "clusterrolebindings",
	Role: "roles",
	RoleBinding: "rolebindings",
	Deployment: "deployments",
	Service: "services",
};

/** Of the collection; of what is not served, nothing. */
export function pathOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string {
	const plural = PLURALS[kind] ?? "";
	const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
	return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
