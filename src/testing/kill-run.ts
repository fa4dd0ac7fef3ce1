/**
 * Kills the endpoint controllers at one of their API calls while Services and Pods change, starts them again,
 * and looks at what becomes of the slices.
 */
import { ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Pod, Service } from "../api/types/core.ts";
import type { Draft, StringMap } from "../api/types/meta.ts";
import { assertDefined } from "../kernel/assert.ts";
import { MortalClient } from "./mortal-client.ts";
import { SeededRandom } from "./seeded.ts";
import { sliceProblems } from "./slice-problems.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "./test-plane.ts";

const NAMESPACE = "default";
const STEPS = 30;
/** Time enough for retries and for slices that are looked at again. */
const AFTER_MS = 120_000;
const MAX_PER_SLICE = 3;

const OPTIONS: TestPlaneOptions = {
	nodes: 0,
	serviceCIDRs: ["10.96.0.0/16", "fd00:96::/112"],
	maxEndpointsPerSlice: MAX_PER_SLICE,
	controllers: [
		"endpointslice-controller",
		"endpoints-controller",
		"endpointslice-mirroring-controller",
		"garbage-collector-controller",
	],
};

export interface KillOutcome {
	/** Nothing, when all is as if nobody had died. */
	readonly problems: readonly string[];
	/** Whether the death came before the history was over. */
	readonly diedEarly: boolean;
}

export async function killRun(seed: number): Promise<KillOutcome> {
	const random = new SeededRandom(seed);
	const first = await startTestPlane({ ...OPTIONS, controllers: [], seed });
	await first.client.create(NODES, "", { metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "za" } } });
	const history = new History(first, random);
	for (let step = 0; step < 10; step++) await history.step();
	let diedEarly = false;
	for (let life = 0; life < 2; life++) {
		const mortal = await lifeOf(first, history, random);
		diedEarly ||= mortal;
	}
	const survivor = await startTestPlane({ ...OPTIONS, over: first });
	// What those that live on keep in memory is right, too.
	for (let step = 0; step < STEPS; step++) {
		await history.step();
		await survivor.settle();
	}
	// A zone alone wakes no Service: one Pod that all select does.
	await history.addPod({ app: "web", tier: "back" });
	await survivor.advance(AFTER_MS);
	await survivor.stop();
	const problems = await sliceProblems(first.client, MAX_PER_SLICE);
	return { diedEarly, problems: [...problems, ...(await idleWrites(first))] };
}

/** Controllers that live until they die or the history goes on without them. Returns whether they died. */
async function lifeOf(over: TestPlane, history: History, random: SeededRandom): Promise<boolean> {
	const counts = random.next() < 0.7 ? "writes" : "calls";
	const atCall = 1 + Math.floor(random.next() * (counts === "writes" ? 40 : 150));
	const death = { counts, atCall, isSent: random.next() < 0.5 } as const;
	const clients: MortalClient[] = [];
	const plane = await startTestPlane({
		...OPTIONS,
		over,
		wrapClient(client) {
			const mortal = new MortalClient(client, death);
			clients.push(mortal);
			return mortal;
		},
	});
	const mortal = assertDefined(clients[0], "the client of the controllers");
	for (let step = 0; step < STEPS && !mortal.isDead; step++) {
		await history.step();
		const roll = random.next();
		if (roll < 0.5) await plane.settle();
		else if (roll < 0.75) await plane.advance(1500);
	}
	const { isDead } = mortal;
	const stopped = plane.stop();
	mortal.bury();
	await stopped;
	// Users go on while nobody keeps slices.
	for (let step = 0; step < 3; step++) await history.step();
	return isDead;
}

/** A full sync of everything by controllers that remember nothing must not write anything. */
async function idleWrites(over: TestPlane): Promise<readonly string[]> {
	const before = over.store.revision;
	const idle = await startTestPlane({ ...OPTIONS, over });
	await idle.advance(AFTER_MS);
	await idle.stop();
	const written = over.store.revision - before;
	return written === 0 ? [] : [`a sync of what is right wrote ${written} times`];
}

const SERVICE_SPECS: Readonly<Record<string, Partial<Service["spec"]>>> = {
	web: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: "http" }] },
	dual: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }], ipFamilyPolicy: "RequireDualStack" },
	headless: { selector: { tier: "back" }, clusterIP: "None", publishNotReadyAddresses: true },
	manual: { ports: [{ name: "http", port: 80 }] },
};

/** Users' steps: each makes, changes or deletes something. */
class History {
	readonly #plane: TestPlane;
	readonly #random: SeededRandom;
	readonly #pods: string[] = [];
	#made = 0;

	constructor(plane: TestPlane, random: SeededRandom) {
		this.#plane = plane;
		this.#random = random;
	}

	async step(): Promise<void> {
		const roll = this.#random.next();
		if (roll > 0.97) return this.#moveNode();
		if (roll < 0.35 || this.#pods.length < 3)
			return this.addPod({ app: this.#of(["web", "web", "other"]), tier: this.#of(["back", "front"]) });
		const name = this.#of(this.#pods);
		const { client } = this.#plane;
		const key = { namespace: NAMESPACE, name };
		if (roll < 0.5) {
			this.#pods.splice(this.#pods.indexOf(name), 1);
			await client.delete(PODS, key, { gracePeriodSeconds: 0 });
		} else if (roll < 0.65) await this.#setReady(name, this.#random.next() < 0.5);
		else if (roll < 0.75) {
			const labels = { app: this.#of(["web", "other"]), tier: this.#of(["back", "front"]) };
			await client.patch(PODS, key, { type: "merge", body: { metadata: { labels } } });
		} else await this.#changeService();
	}

	async addPod(labels: StringMap): Promise<void> {
		const n = ++this.#made;
		const name = `p${n}`;
		const ports = [{ name: "http", containerPort: this.#of([8080, 8081]) }];
		const draft: Draft<Pod> = {
			metadata: { name, labels },
			spec: { nodeName: "n1", containers: [{ name: "c", image: "app:1", ports }] },
		};
		await this.#plane.client.create(PODS, NAMESPACE, draft);
		this.#pods.push(name);
		await this.#setReady(name, this.#random.next() < 0.8);
	}

	async #setReady(name: string, isReady: boolean): Promise<void> {
		const n = Number(name.slice(1));
		const podIPs = [{ ip: `10.1.0.${n}` }, { ip: `fd00::${n.toString(16)}` }];
		const lastTransitionTime = new Date(this.#plane.clock.wallMs()).toISOString().replace(/\.\d+/, "");
		const conditions = [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime }];
		const body = { status: { phase: "Running", podIP: `10.1.0.${n}`, podIPs, conditions } };
		const key = { namespace: NAMESPACE, name };
		await this.#plane.client.patch(PODS, key, { type: "merge", body }, { subresource: "status" });
	}

	async #moveNode(): Promise<void> {
		const labels = { "topology.kubernetes.io/zone": this.#of(["za", "zb"]) };
		await this.#plane.client.patch(
			NODES,
			{ namespace: "", name: "n1" },
			{ type: "merge", body: { metadata: { labels } } },
		);
	}

	async #changeService(): Promise<void> {
		const { client } = this.#plane;
		const name = this.#of(Object.keys(SERVICE_SPECS));
		const key = { namespace: NAMESPACE, name };
		const found = await client.get(SERVICES, key).catch(() => undefined);
		if (found === undefined) {
			const spec = SERVICE_SPECS[name] as Service["spec"];
			await client.create(SERVICES, NAMESPACE, { metadata: { name }, spec });
		} else if (name === "manual") await this.#changeEndpoints();
		else if (this.#random.next() < 0.25) await client.delete(SERVICES, key);
		else await client.patch(SERVICES, key, { type: "merge", body: this.#serviceChange(found) });
	}

	#serviceChange({ spec }: Service): object {
		if (this.#random.next() < 0.4) return { metadata: { labels: { color: this.#of(["red", "blue", null]) } } };
		if (this.#random.next() < 0.4) return { spec: { publishNotReadyAddresses: this.#random.next() < 0.5 } };
		const [port] = spec.ports ?? [];
		return port === undefined ? {} : { spec: { ports: [{ ...port, targetPort: this.#of(["http", 8080, 9090]) }] } };
	}

	async #changeEndpoints(): Promise<void> {
		const { client } = this.#plane;
		const count = Math.floor(this.#random.next() * 4);
		const addresses = Array.from({ length: count + 1 }, (_, at) => ({
			ip: this.#of([`192.0.2.${at}`, `2001:db8::${at}`]),
		}));
		const subsets = count === 0 ? [] : [{ addresses, ports: [{ name: "http", port: this.#of([80, 81]) }] }];
		const key = { namespace: NAMESPACE, name: "manual" };
		const found = await client.get(ENDPOINTS, key).catch(() => undefined);
		if (found === undefined) await client.create(ENDPOINTS, NAMESPACE, { metadata: { name: "manual" }, subsets });
		else if (this.#random.next() < 0.2) await client.delete(ENDPOINTS, key);
		else await client.patch(ENDPOINTS, key, { type: "merge", body: { subsets } });
	}

	#of<T>(choices: readonly T[]): T {
		return choices[Math.floor(this.#random.next() * choices.length)] as T;
	}
}
