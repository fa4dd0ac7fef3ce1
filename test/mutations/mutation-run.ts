/** Sends mutated objects to a whole API server, and checks after each that it kept its promises. */
import type { KubeObject } from "../../src/api/types/meta.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";
import { type TestResponse, TestServer } from "../../src/testing/test-server.ts";
import { MANIFESTS, type Manifest } from "./manifests.ts";
import { type Json, mutated, pick } from "./mutate.ts";

/** The statuses that the API's protocol has for writes. */
const STATUSES: ReadonlySet<number> = new Set([200, 201, 202, 400, 404, 405, 409, 413, 415, 422]);
/** The one 500 that a real server has for a patch: an item of a list without the key that it is merged by. */
const MERGE_KEY = /does not contain declared merge key/;
const STACK_TRACE = /^ *at |\\n *at |node:internal|\.[jt]s:\d+/;
const PATCH_TYPES = ["merge-patch+json", "strategic-merge-patch+json", "json-patch+json"] as const;
/** Objects are removed after so many requests, so that what they hold comes back. */
const CLEARED_EVERY = 100;

interface Sent {
	readonly method: string;
	readonly path: string;
	readonly body: Json;
	readonly contentType?: string;
}

export interface MutationRun {
	readonly seed: number;
	/** Requests by status. */
	readonly statuses: Readonly<Record<string, number>>;
	/** What was not as promised, with the request that showed it. */
	readonly broken: readonly string[];
}

export async function mutationRun(seed: number, rounds: number): Promise<MutationRun> {
	const random = new SeededRandom(seed);
	const server = await TestServer.start();
	const statuses: Record<string, number> = {};
	const broken: string[] = [];
	for (let round = 1; round <= rounds; round++) {
		const sent = randomRequest(random);
		const before = server.store.revision;
		const response = await server.request(sent.method, sent.path, {
			body: sent.body,
			...(sent.contentType === undefined ? {} : { contentType: sent.contentType }),
		});
		statuses[response.status] = (statuses[response.status] ?? 0) + 1;
		const problems = problemsOf(response, server.store.revision - before, sent.path.includes("dryRun=All"));
		for (const problem of problems)
			broken.push(`${problem}: ${JSON.stringify(sent)} -> ${response.text.slice(0, 500)}`);
		if (round % CLEARED_EVERY === 0) broken.push(...(await leaked(server)));
	}
	return { seed, statuses, broken };
}

function randomRequest(random: SeededRandom): Sent {
	const { path, object } = pick(random, MANIFESTS);
	const { metadata } = object as { readonly metadata: { readonly name: string } };
	const query = pick(random, ["", "", "", "?dryRun=All", "?fieldValidation=Strict"]);
	const place = `${path}/${metadata.name}`;
	switch (Math.floor(random.next() * 4)) {
		case 0:
			return { method: "POST", path: `${path}${query}`, body: object };
		case 1:
			return { method: "POST", path: `${path}${query}`, body: mutated(object, random) };
		case 2:
			return { method: "PUT", path: `${place}${pick(random, ["", "/status"])}${query}`, body: mutated(object, random) };
		default:
			return randomPatch({ path: place, object }, query, random);
	}
}

function randomPatch({ path, object }: Manifest, query: string, random: SeededRandom): Sent {
	const type = pick(random, PATCH_TYPES);
	const operation: Json = [
		{ op: pick(random, ["add", "replace", "remove", "test", "copy"]), path: "/spec/ports/0", value: 1 },
	];
	const body = mutated(type === "json-patch+json" ? operation : object, random);
	return { method: "PATCH", path: `${path}${query}`, body, contentType: `application/${type}` };
}

function problemsOf({ status, text, json }: TestResponse, commits: number, isDryRun: boolean): readonly string[] {
	const problems: string[] = [];
	const isRefused = status >= 400;
	if (!STATUSES.has(status) && !MERGE_KEY.test(text)) problems.push(`status ${status}`);
	if (STACK_TRACE.test(text)) problems.push("a stack trace");
	if (isRefused && commits !== 0) problems.push(`refused, and ${commits} commits`);
	if (isRefused && (json.kind !== "Status" || json.code !== status)) problems.push("no Status");
	if (isDryRun && commits !== 0) problems.push(`a dry run with ${commits} commits`);
	if (commits > 1) problems.push(`${commits} commits for one request`);
	if (Object.hasOwn(Object.prototype, "polluted")) problems.push("a polluted prototype");
	return problems;
}

/** Removes every object; what Services held has to be free then. */
async function leaked(server: TestServer): Promise<readonly string[]> {
	for (const path of new Set(MANIFESTS.map((manifest) => manifest.path))) {
		for (const { metadata } of (await server.request("GET", path)).json.items ?? []) {
			if (!/^(default|kube-)/.test(metadata.name)) await removed(server, `${path}/${metadata.name}`);
		}
	}
	const spaces = ["/registry/ipaddresses/", "/registry/sliceplane.dev/nodeports/", "/registry/services/specs/"];
	return spaces.flatMap((space) => {
		const { size } = server.store.space(space);
		return size === 0 ? [] : [`${size} entries were left in ${space}`];
	});
}

async function removed(server: TestServer, path: string): Promise<void> {
	const options = { gracePeriodSeconds: 0 };
	const { json } = await server.request("DELETE", path, { body: options });
	const { finalizers = [] } = (json as Partial<KubeObject>).metadata ?? {};
	if (finalizers.length === 0) return;
	const body = { metadata: { finalizers: null } };
	await server.request("PATCH", path, { body, contentType: "application/merge-patch+json" });
}
