/** Drives the reflector's state machine over an ApiClient until it is told to stop. */
import type { Resource } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Random } from "../kernel/random.ts";
import type { ApiClient, WatchEvent } from "./api-client.ts";
import {
	INITIAL_REQUEST,
	INITIAL_STATE,
	type ReflectorEffect,
	type ReflectorInput,
	type ReflectorRequest,
	type ReflectorState,
	type ReflectorStep,
	step,
} from "./reflector.ts";
import { ReflectorTrouble } from "./reflector-trouble.ts";

export interface ReflectorPorts {
	readonly client: ApiClient;
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
}

/** Which part of the resource to follow. */
export interface Selection {
	readonly namespace?: string;
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
}

/** Who follows the resource. */
export interface Follower<T> {
	/** Takes in what the server told. */
	apply(effect: ReflectorEffect<T>): void;
	/** Called around every wait after a failure: between the two the server is not followed. */
	waits?(isWaiting: boolean): void;
}

/** client-go's numbers: 0.8 s doubling to 30 s. */
const FIRST_DELAY_MS = 800;
const DELAY_MS_MAX = 30_000;

/** Resolves when `signal` aborts. Rejects only if the follower throws. */
export async function runReflector<T extends KubeObject>(
	ports: ReflectorPorts,
	source: { readonly resource: Resource<T>; readonly selection: Selection },
	follower: Follower<T>,
	signal: AbortSignal,
): Promise<void> {
	let state: ReflectorState = INITIAL_STATE;
	let request: ReflectorRequest | undefined = INITIAL_REQUEST;
	const trouble = new ReflectorTrouble(source.resource, ports.log);
	while (!signal.aborted) {
		const asked: ReflectorRequest = assertDefined(request, "the next request of the reflector");
		if (asked.backoff > 0 && !(await waited(ports, asked.backoff, follower, signal))) return;
		request = undefined;
		for await (const input of answers(ports.client, source, asked, signal)) {
			if (signal.aborted) return;
			trouble.saw(asked, input);
			const next: ReflectorStep<T> = step(state, input);
			state = next.state;
			if (next.effect !== undefined) follower.apply(next.effect);
			request = next.request;
		}
	}
}

/** False when `signal` ended the wait. */
async function waited(
	{ clock, random }: ReflectorPorts,
	backoff: number,
	follower: Pick<Follower<never>, "waits">,
	signal: AbortSignal,
): Promise<boolean> {
	const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (backoff - 1), DELAY_MS_MAX) * (0.5 + random.next() / 2);
	follower.waits?.(true);
	const isOver = await clock.sleep(delayMs, signal).then(
		() => true,
		() => false,
	);
	follower.waits?.(false);
	return isOver;
}

/** Everything that one request brings, its end included. Never rejects. */
async function* answers<T extends KubeObject>(
	client: ApiClient,
	{ resource, selection }: { readonly resource: Resource<T>; readonly selection: Selection },
	request: ReflectorRequest,
	signal: AbortSignal,
): AsyncGenerator<ReflectorInput<T>> {
	try {
		if (request.kind === "list") {
			const freshness = request.freshness === "any" ? { resourceVersion: "0" } : {};
			const list = await client.list(resource, { ...selection, ...freshness, signal });
			yield { kind: "listed", items: list.items, resourceVersion: list.resourceVersion };
			return;
		}
		const { resourceVersion } = request;
		for await (const events of client.watch(resource, { ...selection, resourceVersion, signal })) {
			yield { kind: "events", events, resourceVersion: lastVersion(events) };
		}
	} catch (error) {
		yield { kind: "failed", error };
		return;
	}
	yield { kind: "closed" };
}

function lastVersion(events: readonly WatchEvent<KubeObject>[]): string {
	const last = assertDefined(events.at(-1), "an event in a batch of a watch");
	return last.type === "BOOKMARK" ? last.resourceVersion : last.object.metadata.resourceVersion;
}
