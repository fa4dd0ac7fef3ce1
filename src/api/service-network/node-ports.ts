/** Gives a Service its node ports: one for each port, and one for health checks. */
import type { Random } from "../../kernel/random.ts";
import { invalid } from "../field-error.ts";
import { hasNodePorts, needsHealthCheck, nodePortsOf, wantsNodePorts } from "../kinds/service-rules.ts";
import type { Service, ServicePort } from "../types/core.ts";
import { chooseFree, type Pool, staticBandSize } from "./band.ts";
import type { NodePortRange, Refusal, ServiceNetworkInput, Step } from "./plan.ts";

const STATIC_SHARE = 32n;
const STATIC_MAX = 128n;
/** The first made-up port of a dry run: the one after the default range. */
const FAKE_FIRST = 32_769;

export function nodePortPool({ first, last }: NodePortRange): Pool {
	const size = BigInt(last - first + 1);
	return { first: BigInt(first), size, staticSize: staticBandSize(size, STATIC_SHARE, STATIC_MAX) };
}

/** The node ports that a Service holds, each once. An ExternalName may name some, and holds none. */
export function heldNodePorts(service: Service): readonly number[] {
	return hasNodePorts(service.spec) ? [...new Set(nodePortsOf(service))] : [];
}

export function withNodePorts(input: ServiceNetworkInput): Step {
	const { service, stored } = input;
	if (!hasNodePorts(service.spec)) return { kind: "ok", service };
	const desk = new NodePortDesk(input);
	const { ports = [] } = service.spec;
	const isNew = stored === undefined;
	const answer = isNew ? portsOfNew(ports, desk, wantsNodePorts(service.spec)) : portsOfOld(ports, desk, input);
	if (answer.kind !== "ok") return answer;
	const next = { ...service, spec: { ...service.spec, ports: answer.ports } };
	const isHealthCheckNew = needsHealthCheck(service.spec) && (isNew || !needsHealthCheck(stored.spec));
	return isHealthCheckNew ? withHealthCheckPort(next, desk) : { kind: "ok", service: next };
}

type Ports = { readonly kind: "ok"; readonly ports: readonly ServicePort[] } | Refusal;

/** Ports of one number (TCP and UDP) share a node port; a second wish for the same number is met too. */
function portsOfNew(ports: readonly ServicePort[], desk: NodePortDesk, wantsAll: boolean): Ports {
	const byNumber = new Map<number, number>();
	const given: ServicePort[] = [];
	for (const [index, port] of ports.entries()) {
		const { nodePort: asked = 0 } = port;
		if (asked === 0 && !wantsAll) {
			given.push(port);
			continue;
		}
		const shared = byNumber.get(port.port);
		const wish = shared === undefined ? wishFor(ports, port.port) : asked || shared;
		const answer = wish === shared ? shared : desk.allot(wish, index);
		if (typeof answer !== "number") return answer;
		if (shared === undefined) byNumber.set(port.port, answer);
		given.push({ ...port, nodePort: answer });
	}
	return { kind: "ok", ports: given };
}

/** The first node port asked for among the ports of one number. */
function wishFor(ports: readonly ServicePort[], number: number): number {
	return ports.find(({ port, nodePort = 0 }) => port === number && nodePort !== 0)?.nodePort ?? 0;
}

/** On update each port stands for itself, and what the Service held before it keeps. */
function portsOfOld(
	ports: readonly ServicePort[],
	desk: NodePortDesk,
	{ service, stored }: ServiceNetworkInput,
): Ports {
	const wantsAll = wantsNodePorts(service.spec);
	const kept = new Set(stored === undefined ? [] : heldNodePorts(stored));
	const seen = new Set<string>();
	const given: ServicePort[] = [];
	for (const [index, port] of ports.entries()) {
		const { nodePort: asked = 0, protocol = "TCP" } = port;
		if (asked === 0 && !wantsAll) {
			given.push(port);
			continue;
		}
		const answer = kept.has(asked) ? asked : desk.allot(asked, index);
		if (typeof answer !== "number") return answer;
		kept.add(answer);
		const pair = `{${protocol} ${answer}}`;
		if (seen.has(pair)) return { kind: "failed", message: `duplicate nodePort: ${pair}` };
		seen.add(pair);
		given.push({ ...port, nodePort: answer });
	}
	return { kind: "ok", ports: given };
}

function withHealthCheckPort(service: Service, desk: NodePortDesk): Step {
	const { healthCheckNodePort: asked = 0 } = service.spec;
	const answer = asked === 0 ? desk.any() : desk.problemOf(asked);
	if (typeof answer === "number") {
		return { kind: "ok", service: { ...service, spec: { ...service.spec, healthCheckNodePort: answer } } };
	}
	if (answer === undefined) return { kind: "ok", service };
	if (typeof answer !== "string") {
		return { kind: "failed", message: "failed to allocate a HealthCheck NodePort 0: range is full" };
	}
	return { kind: "failed", message: `failed to allocate requested HealthCheck NodePort ${asked}: ${answer}` };
}

/** Hands out the node ports of one write; what it gave once is taken. */
class NodePortDesk {
	readonly #range: NodePortRange;
	readonly #isTaken: (port: number) => boolean;
	readonly #random: Random;
	readonly #isDryRun: boolean;
	readonly #given = new Set<number>();

	constructor({ nodePortRange, isNodePortTaken, random, isDryRun = false }: ServiceNetworkInput) {
		this.#range = nodePortRange;
		this.#isTaken = isNodePortTaken;
		this.#random = random;
		this.#isDryRun = isDryRun;
	}

	/** The port, or any when it is 0; `index` tells errors whose it is. */
	allot(port: number, index: number): number | Refusal {
		if (port === 0) return this.any();
		const problem = this.problemOf(port);
		if (problem !== undefined) {
			return { kind: "invalid", errors: [invalid(`spec.ports[${index}].nodePort`, port, problem)] };
		}
		this.#given.add(port);
		return port;
	}

	/** Why this port cannot be had, in the words of the allocator. */
	problemOf(port: number): string | undefined {
		const { first, last } = this.#range;
		if (port < first || port > last) {
			return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
		}
		return this.#given.has(port) || this.#isTaken(port) ? "provided port is already allocated" : undefined;
	}

	any(): number | Refusal {
		const port = this.#isDryRun ? this.#fake() : this.#free();
		if (port === undefined) return { kind: "full", message: "failed to allocate a nodePort: range is full" };
		this.#given.add(port);
		return port;
	}

	#fake(): number {
		const highest = Math.max(0, ...this.#given);
		return highest === 0 ? FAKE_FIRST : highest + 1;
	}

	#free(): number | undefined {
		const pool = nodePortPool(this.#range);
		const port = chooseFree(pool, this.#random, (candidate) => {
			return this.#given.has(Number(candidate)) || this.#isTaken(Number(candidate));
		});
		return port === undefined ? undefined : Number(port);
	}
}
