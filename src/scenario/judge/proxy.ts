/** Expectations of the proxies: what they would do with a connection, and what they have done. */
import { familyOf } from "../../api/ip.ts";
import { splitKey } from "../../api/resource.ts";
import type { Node } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { IPFamily, Protocol } from "../../api/types/meta.ts";
import type { Asked, Client, Route } from "../../plan/service-map/node-rules.ts";
import { renderRules } from "../../plan/service-map/render.ts";
import { endpointText } from "../../plan/service-map/slice-endpoints.ts";
import type { ProxyExpectation, RulesetExpectation } from "../format/expectations.ts";
import type { SavedRuleset, ScenarioRun } from "../run.ts";
import { sameTexts } from "./matching.ts";
import { type Problem, problem, unless } from "./verdict.ts";

/** Where kube-proxy says how it is itself. */
const HEALTHZ_PORT = 10_256;

/** Clients that a scenario does not name, by where they are. */
const POD_CLIENTS: Readonly<Record<IPFamily, string>> = { IPv4: "10.1.255.254", IPv6: "fd00:1::fffe" };
const OUTSIDE_CLIENTS: Readonly<Record<IPFamily, string>> = { IPv4: "198.51.100.200", IPv6: "2001:db8:ffff::200" };

export function judgeProxy(run: ScenarioRun, wanted: ProxyExpectation, path: string): readonly Problem[] {
	const proxy = run.plane.proxies.get(wanted.node, wanted.started_as);
	if (proxy === undefined) return [problem(path, wanted, `no proxy on node ${wanted.node}`)];
	const asked = askedOf(wanted.dst);
	const client = clientOf(run, wanted, asked);
	const route = proxy.rules.route(asked, client);
	const action = route.kind === "forward" ? "dnat" : route.kind;
	if (action !== wanted.action) return [problem(`${path}.action`, wanted.action, found(route))];
	return route.kind === "forward" ? judgeForward(run, wanted, { route, client, path }) : [];
}

interface Forwarded {
	readonly route: Extract<Route, { kind: "forward" }>;
	readonly client: Client;
	readonly path: string;
}

function judgeForward(
	run: ScenarioRun,
	wanted: ProxyExpectation,
	{ route, client, path }: Forwarded,
): readonly Problem[] {
	const targets = route.targets.map(endpointText);
	const { affinitySeconds } = route.port;
	const affinity = affinitySeconds === undefined ? undefined : "ClientIP";
	const isHairpin = route.targets.length === 1 && route.targets[0]?.ip === client.ip;
	const snat = route.isMasqueraded || isHairpin;
	const ready = wanted.same_as_slices === true ? readyInSlices(run, route) : [];
	return [
		...unless(wanted.to === undefined || sameTexts(wanted.to, targets), `${path}.to`, wanted.to, targets),
		...unless(wanted.same_as_slices !== true || sameTexts(ready, targets), `${path}.same_as_slices`, ready, targets),
		...unless(new Set(targets).size === targets.length, `${path}.equal_weight`, "each once", targets),
		...unless(wanted.snat === undefined || wanted.snat === snat, `${path}.snat`, wanted.snat, snat),
		...unless(
			wanted.affinity === undefined || wanted.affinity === affinity,
			`${path}.affinity`,
			wanted.affinity,
			affinity,
		),
		...unless(
			wanted.timeout === undefined || wanted.timeout === affinitySeconds,
			`${path}.timeout`,
			wanted.timeout,
			affinitySeconds,
		),
	];
}

function found(route: Route): string {
	if (route.kind !== "forward") return `${route.kind}: ${route.why}`;
	return `dnat to ${route.targets.map(endpointText).join(" ")}`;
}

function askedOf(dst: string): Asked {
	const [, host = "", port = "", protocol = "TCP"] = /^(.*):(\d+)\/(\w+)$/.exec(dst) ?? [];
	return { ip: host.replaceAll(/[[\]]/g, ""), port: Number(port), protocol: protocol as Protocol };
}

function clientOf(run: ScenarioRun, { node, from = "pod", client }: ProxyExpectation, { ip }: Asked): Client {
	const family = familyOf(ip) ?? "IPv4";
	if (from === "pod") return { place: "pod", ip: client ?? POD_CLIENTS[family] };
	if (from === "external") return { place: "other", ip: client ?? OUTSIDE_CLIENTS[family] };
	const [own] = addressesOf(run, node).filter((address) => familyOf(address) === family);
	return { place: "node", ip: client ?? own ?? OUTSIDE_CLIENTS[family] };
}

function addressesOf(run: ScenarioRun, name: string): readonly string[] {
	const [node] = run.found({ kind: "Node", name }) as readonly Node[];
	return (node?.status?.addresses ?? []).map(({ address }) => address);
}

/** What the slices of the Service hold as ready under the port's name, in the family that was asked for. */
function readyInSlices(run: ScenarioRun, { serviceKey, port }: Forwarded["route"]): readonly string[] {
	const { namespace: ns, name: service } = splitKey(serviceKey);
	const slices = run.found({
		kind: "EndpointSlice",
		ns,
		service,
		addressType: port.family,
	}) as readonly EndpointSlice[];
	const texts = slices.flatMap(({ ports, endpoints }) => {
		const number = ports?.find((each) => (each.name ?? "") === port.name)?.port;
		const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
		return ready.flatMap(({ addresses }) => addresses.map((ip) => endpointText({ ip, port: number ?? 0 })));
	});
	return [...new Set(texts)];
}

export function judgeRuleset(run: ScenarioRun, wanted: RulesetExpectation, path: string): readonly Problem[] {
	const proxy = run.plane.proxies.get(wanted.node);
	const families: readonly IPFamily[] = wanted.family === undefined ? ["IPv4", "IPv6"] : [wanted.family];
	const text = families.map((family) => renderRules(proxy?.rules.rules.tables ?? new Map(), family)).join("\n");
	return [
		...(wanted.contains ?? []).flatMap((part) => unless(text.includes(part), `${path}.contains`, part, text)),
		...(wanted.not_contains ?? []).flatMap((part) =>
			unless(!text.includes(part), `${path}.not_contains`, `no ${part}`, text),
		),
	];
}

export function judgeSavedRuleset(
	run: ScenarioRun,
	name: string,
	saved: SavedRuleset,
	wanted: string,
): readonly Problem[] {
	const version = run.plane.proxies.get(saved.node)?.rules.rules.version(saved.family);
	const state = version === saved.version ? "unchanged" : "same";
	return unless(wanted === state || (wanted === "same" && state === "unchanged"), `saved.${name}`, wanted, state);
}

export function judgeHttpOnNode(
	run: ScenarioRun,
	wanted: { readonly node: string; readonly port: number; readonly code: number },
	path: string,
): readonly Problem[] {
	const proxy = run.plane.proxies.get(wanted.node);
	if (proxy === undefined || !proxy.isRunning) return [problem(path, wanted.code, "nothing listens on the port")];
	if (wanted.port === HEALTHZ_PORT) {
		const healthz = proxy.isReady ? 200 : 503;
		return unless(healthz === wanted.code, path, wanted.code, healthz);
	}
	const tables = [...proxy.rules.rules.tables.values()];
	const table = tables.find(({ ports }) =>
		ports.some(({ healthCheckNodePort }) => healthCheckNodePort === wanted.port),
	);
	if (table === undefined) return [problem(path, wanted.code, "nothing listens on the port")];
	const code = table.localReady > 0 ? 200 : 503;
	return unless(code === wanted.code, path, wanted.code, code);
}

export function judgeFlows(run: ScenarioRun, wanted: readonly string[]): readonly Problem[] {
	const deleted = run.plane.proxies.all.flatMap(({ deletedFlows }) => deletedFlows);
	return unless(sameTexts(wanted, deleted), "conntrack_deleted", wanted, deleted);
}

export function judgeKernelOrder(run: ScenarioRun, wanted: readonly string[]): readonly Problem[] {
	const syncs = run.plane.proxies.all.map(({ lastSync }) => lastSync).filter((sync) => sync.includes("conntrack"));
	const last: readonly string[] = [...new Set(syncs.at(-1) ?? [])];
	// A sync that had no flow to delete kept every order.
	return unless(last.length === 0 || last.join() === wanted.join(), "kernel_order", wanted, last);
}

/** An endpoint of a port with affinity has a set for its clients, for as long as it is used. */
export function judgeAffinityRecord(
	run: ScenarioRun,
	{ node, endpoint, exists }: { readonly node: string; readonly endpoint: string; readonly exists: boolean },
	path: string,
): readonly Problem[] {
	const proxy = run.plane.proxies.get(node);
	if (proxy === undefined) return [problem(path, exists, `no proxy on node ${node}`)];
	const ports = [...proxy.rules.rules.tables.values()].flatMap((table) => table.ports);
	const remembering = ports.filter(({ affinitySeconds }) => affinitySeconds !== undefined);
	const isThere = remembering.some(({ cluster, local }) =>
		[...cluster, ...local].some((target) => endpointText(target) === endpoint),
	);
	return unless(isThere === exists, path, exists, isThere);
}

/** A proxy that ends connections itself needs no settings of the kernel, and writes none. */
export function judgeSysctl({ written }: { readonly written: boolean }, path: string): readonly Problem[] {
	return unless(!written, path, written, false);
}
