/** Makes the Node objects that are not there yet, and tries on where that is refused for now: a kubelet's own way. */
import { NODES } from "../api/resource-names.ts";
import { hasReason, type StatusReason } from "../api/status.ts";
import { TransportError } from "../machinery/api-client.ts";
import { ignoreAlreadyExists } from "../machinery/expected-errors.ts";
import { timestamp } from "../plan/timestamp.ts";
import type { FleetPorts } from "./fleet.ts";
import { type NodePoolOptions, nodeObject, type SimulatedNode } from "./node-pool.ts";

/** A kubelet's numbers: 0.1 s doubling to 7 s. */
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 7_000;

/** What may be otherwise a moment later: rights are given, servers come back. */
const PASSING: readonly StatusReason[] = [
	"Forbidden",
	"InternalError",
	"ServerTimeout",
	"ServiceUnavailable",
	"Timeout",
	"TooManyRequests",
	"Unauthorized",
];

export class Registration {
	readonly #ports: Pick<FleetPorts, "client" | "informers" | "clock" | "log">;
	readonly #options: NodePoolOptions;
	#missing: readonly SimulatedNode[];
	/** What was in the way when it was told last. */
	#told = "";

	constructor(ports: FleetPorts, nodes: readonly SimulatedNode[], options: NodePoolOptions) {
		this.#ports = ports;
		this.#missing = nodes;
		this.#options = options;
	}

	/** Tries once for each Node. @throws {ApiError} For one that the server will never take. */
	async attempt(): Promise<void> {
		const missing: SimulatedNode[] = [];
		let last: Error | undefined;
		for (const node of this.#missing) {
			// One that does not answer is not asked for all of the others.
			const error = last instanceof TransportError ? last : await this.#failure(node);
			if (error === undefined) continue;
			last = error;
			missing.push(node);
		}
		this.#missing = missing;
		this.#tell(last);
	}

	/** Tries on, until all are there or `signal` aborts. Rejects as {@link attempt}. */
	async run(signal: AbortSignal): Promise<void> {
		const { clock } = this.#ports;
		for (let delayMs = RETRY_MS_MIN; this.#missing.length > 0; delayMs = Math.min(2 * delayMs, RETRY_MS_MAX)) {
			await clock.sleep(delayMs, signal).catch(() => undefined);
			if (signal.aborted) return;
			await this.attempt();
		}
	}

	/** Undefined: the Node is there. */
	async #failure(node: SimulatedNode): Promise<Error | undefined> {
		const { client, informers, clock } = this.#ports;
		// Who may not make a Node is not told either that it is there.
		if (informers.of(NODES).get(node.name) !== undefined) return undefined;
		try {
			await ignoreAlreadyExists(client.create(NODES, "", nodeObject(node, this.#options, timestamp(clock.wallMs()))));
			return undefined;
		} catch (error) {
			if (isPassing(error)) return error;
			throw error;
		}
	}

	/** Each trouble once, however long it lasts. */
	#tell(error: Error | undefined): void {
		if (error === undefined || error.message === this.#told) return;
		this.#told = error.message;
		const [first] = this.#missing;
		const fields = { nodes: this.#missing.length, first: first?.name, error };
		this.#ports.log.warn("Failed to make Nodes; it is tried on", fields);
	}
}

function isPassing(error: unknown): error is Error {
	return error instanceof TransportError || PASSING.some((reason) => hasReason(error, reason));
}
