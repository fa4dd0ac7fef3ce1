/** The API server with its real ports: store, TLS, credentials. */
import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import type { Duplex } from "node:stream";
import { DISCOVERED_TYPES, RESOURCE_TYPES } from "../api/resource-table.ts";
import { AccountTokens } from "../apiserver/access/account-tokens.ts";
import { ApiServer } from "../apiserver/api-server.ts";
import { ClaimRepair } from "../apiserver/claim-repair.ts";
import { EventExpiry } from "../apiserver/event-expiry.ts";
import { type Authenticator, HttpApi } from "../apiserver/http/http-api.ts";
import { InProcessClient } from "../apiserver/in-process-client.ts";
import type { User } from "../apiserver/ports.ts";
import { claimWhatIsHeld, type NetworkRanges } from "../apiserver/service-claims.ts";
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "../apiserver/users.ts";
import { askPodBy } from "../edge/ask-pod.ts";
import { CelRules } from "../edge/cel-rules.ts";
import { type Certificates, certificatesFor, SERVER_NAMES } from "../edge/certificates.ts";
import { YamlReader } from "../edge/codec/yaml-reader.ts";
import { DEFAULT_HTTPS_LIMITS, HttpsServer, type UpgradeHandler } from "../edge/https-server.ts";
import { JwtSigner } from "../edge/jwt-signer.ts";
import { requireOurHost } from "../edge/our-hosts.ts";
import { forwardPorts } from "../edge/port-forward.ts";
import { RequestAuthenticator } from "../edge/request-authenticator.ts";
import { readTokenFile } from "../edge/static-token-file.ts";
import { TokenAuthenticator } from "../edge/token-authenticator.ts";
import { refuseUpgrade, spdyConnection } from "../edge/upgrades.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { ContainerLogs } from "../machinery/container-logs.ts";
import { startRevision } from "../store/memory-engine.ts";
import { loggedStore, memoryStore, type Store } from "../store/store.ts";
import { bodyCodecs, encodeSwagger } from "./body-codecs.ts";
import type { PlaneOptions } from "./plane-options.ts";
import { placeText } from "./start-problems.ts";
import type { SystemPorts } from "./system-ports.ts";
import { VERSION } from "./version.ts";

export interface RunningApi {
	readonly url: string;
	/** What it listens on. */
	readonly port: number;
	/** PEM of the authority that signed the server's certificate. */
	readonly ca: string;
	/** Of a user who may do everything: of the token file, or else new at every start. */
	readonly token: string;
	readonly server: ApiServer;
	/** The same user, in process. */
	readonly client: ApiClient;
	/** Of the plane's own parts. @param mayWrite Asked before each write. */
	readonly partClients: (mayWrite: () => boolean) => PartClients;
	/** Resolves with a sentence when its store can never be written to again: another process has it. */
	readonly lost: Promise<string>;
	/**
	 * Keeps the store in order until `signal` aborts. In etcd Events go by their leases, but others write there, too: it
	 * follows with the claims of their Services. Elsewhere it removes Events whose time is over.
	 */
	tidy(signal: AbortSignal): Promise<void>;
	stop(graceMs: number): Promise<void>;
}

/** In process. */
export interface PartClients {
	/** May do everything. */
	readonly client: ApiClient;
	/** One of the plane's own programs: with no more rights than its roles give. */
	readonly clientAs: (userName: string) => ApiClient;
}

/** How the API reaches what runs in pods. */
export interface PodAccess {
	readonly logs: ContainerLogs;
	/** Rejects, with a sentence for people, when nothing answers there. */
	connect(ip: string, podPort: number): Promise<Duplex>;
}

type ApiOptions = Pick<
	PlaneOptions,
	| "listen"
	| "cacheFolder"
	| "dataFolder"
	| "etcd"
	| "requestsInFlight"
	| "clientRequestsPerSecond"
	| "tokenAuthFile"
	| "clusterDomain"
>;

/** Rejects with the system's error when the address cannot be taken. */
export async function startApi(
	options: ApiOptions,
	ranges: NetworkRanges,
	system: SystemPorts,
	unready: () => string | undefined,
	pods: PodAccess,
): Promise<RunningApi> {
	const { clock, random, log, metrics } = system;
	const host = await addressOf(options.listen.host);
	const warn = (text: string): void => log.warn(text);
	const users = options.tokenAuthFile === undefined ? {} : await readTokenFile(options.tokenAuthFile, warn);
	const { store, problem, lost, close } = await openedStore(options, system);
	const server = new ApiServer({
		store,
		types: RESOURCE_TYPES,
		clock,
		random,
		ids: random,
		log,
		metrics,
		ranges,
		rules: new CelRules(),
	});
	if (options.etcd !== undefined) await claimWhatIsHeld(server.ports);
	const token = adminTokenOf(users) ?? randomBytes(32).toString("base64url");
	const admin = { name: "sliceplane-admin", groups: [MASTERS_GROUP, AUTHENTICATED_GROUP] };
	const certificates = await certificatesOf(options.cacheFolder, host, system);
	const identity = identityOf(server, certificates, { [token]: admin, ...users }, options);
	const yaml = new YamlReader();
	let address = "";
	const api = new HttpApi({
		server,
		types: DISCOVERED_TYPES,
		logs: pods.logs,
		askPod: askPodBy((ip, podPort) => pods.connect(ip, podPort)),
		codecs: bodyCodecs(yaml),
		...identity,
		inFlight: options.requestsInFlight,
		rate: { perSecond: options.clientRequestsPerSecond, burst: options.clientRequestsPerSecond * 2 },
		version: VERSION.api,
		address: () => address,
		metricsText: () => metrics.text(),
		encodeSwagger,
		unready: () => (problem() === undefined ? unready() : "etcd"),
	});
	const https = new HttpsServer(certificates, (request) => api.handle(request), DEFAULT_HTTPS_LIMITS, metrics);
	https.onUpgrade(portForwarding(api, pods));
	const port = await https.listen(host, options.listen.port).catch(async (error: unknown) => {
		await close();
		throw error;
	});
	address = placeText({ host: isWildcard(host) ? "127.0.0.1" : host, port });
	return {
		url: `https://${address}`,
		port,
		ca: certificates.ca,
		token,
		server,
		client: new InProcessClient(server, admin),
		partClients: (mayWrite) => ({
			client: new InProcessClient(server, admin, undefined, mayWrite),
			clientAs: (name) => new InProcessClient(server, { name, groups: [AUTHENTICATED_GROUP] }, undefined, mayWrite),
		}),
		lost,
		tidy: (signal) => {
			const { ports } = server;
			return (options.etcd === undefined ? new EventExpiry(ports) : new ClaimRepair(ports)).run(signal);
		},
		async stop(graceMs) {
			await https.close(graceMs);
			await yaml.close();
			await close();
		},
	};
}

function certificatesOf(folder: string, host: string, { clock, log }: SystemPorts): Promise<Certificates> {
	return certificatesFor({
		folder,
		addresses: isWildcard(host) ? [] : [host],
		nowMs: clock.wallMs(),
		warn: (text) => log.warn("Keys were not kept secret", { why: text }),
	});
}

function portForwarding(api: HttpApi, pods: PodAccess): UpgradeHandler {
	return async (request, { message, socket, head }) => {
		const answer = await api.upgrade(request);
		if (answer.kind === "refused") return refuseUpgrade(socket, answer.response);
		const connection = await spdyConnection(message, socket, head);
		const podIP = answer.pod.status?.podIP ?? "";
		if (connection !== undefined) await forwardPorts(connection, (podPort) => pods.connect(podIP, podPort));
	};
}

/** The first one of the file that may do everything: servers that share the file share it, and keep it over restarts. */
function adminTokenOf(users: Readonly<Record<string, User>>): string | undefined {
	return Object.entries(users).find(([, { groups }]) => groups.includes(MASTERS_GROUP))?.[0];
}

interface Identity {
	readonly authenticator: Authenticator;
	readonly accountTokens: AccountTokens;
}

/** @param users By token. */
function identityOf(
	{ ports }: ApiServer,
	{ accountKey }: Certificates,
	users: Readonly<Record<string, User>>,
	{ listen, clusterDomain }: Pick<PlaneOptions, "listen" | "clusterDomain">,
): Identity {
	const inCluster = `kubernetes.default.svc.${clusterDomain}`;
	const issuer = `https://${inCluster}`;
	const names = new Set([...SERVER_NAMES, inCluster, listen.host.toLowerCase()]);
	const accountTokens = new AccountTokens({ ...ports, issuer, signer: new JwtSigner(accountKey) });
	const known = new RequestAuthenticator({ tokens: new TokenAuthenticator(users), accounts: accountTokens, issuer });
	const authenticator: Authenticator = {
		authenticate(request) {
			requireOurHost(request.header("host"), names);
			return known.authenticate(request);
		},
		userOfToken: (token, audiences) => known.userOfToken(token, audiences),
	};
	return { authenticator, accountTokens };
}

interface OpenedStore {
	readonly store: Store;
	/** Why it does not answer; undefined when it does. */
	problem(): string | undefined;
	readonly lost: Promise<string>;
	/** Waits for what is being written. */
	close(): Promise<void>;
}

/** Without a folder and without etcd, all is in memory only. */
async function openedStore(
	{ dataFolder: folder, etcd }: Pick<PlaneOptions, "dataFolder" | "etcd">,
	system: SystemPorts,
): Promise<OpenedStore> {
	const lost = new Promise<string>(() => undefined);
	// Loaded only where they are asked for: the packages behind them may be missing.
	if (etcd !== undefined) return { lost, ...(await (await import("./open-etcd.ts")).openEtcd(etcd, system)) };
	const { clock, metrics } = system;
	const start = startRevision(clock.wallMs());
	const problem = (): undefined => undefined;
	if (folder === undefined) return { store: memoryStore(start), problem, lost, close: () => Promise.resolve() };
	const { openDataFolder } = await import("../edge/lmdb-log.ts");
	const { view, log, ...opened } = await openDataFolder({ folder, start, metrics });
	return { store: loggedStore(view, log), problem, ...opened };
}

/** Certificates and clients want an address, whatever name it was given by. */
async function addressOf(host: string): Promise<string> {
	return (await lookup(host)).address;
}

function isWildcard(host: string): boolean {
	return host === "0.0.0.0" || host === "::";
}
