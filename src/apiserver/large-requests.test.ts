import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { type TestResponse, TestServer } from "../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const WEB = `${SERVICES}/web`;
const MERGE = { contentType: "application/merge-patch+json" };
/** A body of some 100 KiB. */
const ports = Array.from({ length: 2_000 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
const long = (metadata: object = {}): object => ({ metadata: { name: "web", ...metadata }, spec: { ports } });
/** A large write has more steps than this: reading alone has three. */
const TURNS_MIN = 5;

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

/** Makes another request in every turn until the large one is answered. */
async function beside(
	large: Promise<TestResponse>,
	other: (turn: number) => Promise<TestResponse>,
): Promise<{ readonly answer: TestResponse; readonly others: readonly TestResponse[] }> {
	const others: TestResponse[] = [];
	let answer: TestResponse | undefined;
	const ended = large.then((response) => {
		answer = response;
	});
	for (let turn = 0; answer === undefined && turn < 1_000; turn++) {
		others.push(await other(turn));
		await nextTurn();
	}
	await ended;
	return { answer: answer as unknown as TestResponse, others };
}

const label = (turn: number): Promise<TestResponse> =>
	server.request("PATCH", WEB, { ...MERGE, body: { metadata: { labels: { turn: String(turn) } } } });

describe("a large request", () => {
	test.each([
		["POST", () => server.request("POST", SERVICES, { body: long() })],
		["PUT", () => server.request("PUT", WEB, { body: long() })],
		["a merge patch", () => server.request("PATCH", WEB, { ...MERGE, body: { spec: { ports } } })],
		[
			"an apply",
			() =>
				server.request("PATCH", `${WEB}?fieldManager=a&force=true`, {
					contentType: "application/apply-patch+yaml",
					body: { apiVersion: "v1", kind: "Service", ...long() },
				}),
		],
	])("lets others be served between its steps: %s", async (what, ask) => {
		if (what !== "POST")
			await server.request("POST", SERVICES, { body: { ...long(), spec: { ports: [{ port: 1 }] } } });
		const { answer, others } = await beside(ask(), () => server.request("GET", SERVICES));
		expect(answer.status).toBe(what === "POST" ? 201 : 200);
		expect(answer.json.spec?.["ports"]).toHaveLength(2_000);
		expect(others.length).toBeGreaterThan(TURNS_MIN);
	});

	test("that somebody overtakes again and again comes to its end, and takes nothing back", async () => {
		await server.request("POST", SERVICES, { body: { ...long(), spec: { ports: [{ port: 1 }] } } });
		const { answer, others } = await beside(
			server.request("PATCH", WEB, { ...MERGE, body: { spec: { ports } } }),
			label,
		);
		expect([answer.status, ...others.map(({ status }) => status)]).toEqual([200, ...others.map(() => 200)]);
		expect(others.length).toBeLessThan(50);
		const { metadata, spec } = (await server.request("GET", WEB)).json;
		expect(metadata.labels).toEqual({ turn: String(others.length - 1) });
		expect(spec?.["ports"]).toHaveLength(2_000);
	});

	test("that means one version is refused when somebody has overtaken it", async () => {
		const { json } = await server.request("POST", SERVICES, { body: { ...long(), spec: { ports: [{ port: 1 }] } } });
		const { resourceVersion } = json.metadata;
		const { answer } = await beside(server.request("PUT", WEB, { body: long({ resourceVersion }) }), label);
		expect([answer.status, answer.json.reason]).toEqual([409, "Conflict"]);
	});

	test.each([1, 2, 3, 4, 5, 6, 7])("makes nothing in a namespace that has begun to go: in turn %i", async (when) => {
		await server.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "going" } } });
		const path = "/api/v1/namespaces/going/services";
		const { answer, others } = await beside(server.request("POST", path, { body: long() }), (turn) =>
			turn === when ? server.request("DELETE", "/api/v1/namespaces/going") : server.request("GET", path),
		);
		const causes = answer.json.details?.causes ?? [];
		const wentAt = Number(others[when]?.json.metadata.resourceVersion ?? Number.POSITIVE_INFINITY);
		const isRefused = answer.status === 403 && causes[0]?.reason === "NamespaceTerminating";
		expect(isRefused || Number(answer.json.metadata.resourceVersion) < wentAt).toBe(true);
	});
});
