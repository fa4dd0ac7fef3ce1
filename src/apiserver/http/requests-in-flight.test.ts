import { beforeEach, describe, expect, test } from "vitest";
import { utf8 } from "../../kernel/bytes.ts";
import { ADMIN, httpRequest } from "../../testing/test-api.ts";
import { TestServer } from "../../testing/test-server.ts";
import type { HttpResponse } from "./message.ts";

/** What every user may ask. */
const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const MUTATING_MAX = 200;

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start({ roles: true });
});

/** A request whose client sends its body when `send` is called. */
function slowPost(user: string): { readonly answer: Promise<HttpResponse>; send(): void } {
	let send = (): void => undefined;
	const sent = new Promise<Uint8Array>((resolve) => {
		send = () => resolve(utf8("{}"));
	});
	const request = httpRequest({
		method: "POST",
		path: REVIEWS,
		header: (name) => (name === "authorization" ? `Bearer ${user}` : undefined),
		body: utf8(""),
		signal: new AbortController().signal,
	});
	return { answer: server.api.handle({ ...request, body: () => sent }), send };
}

describe("requests in flight", () => {
	test("past the limit are told to come back in a second; those of masters, reads and later ones are not", async () => {
		const open = Array.from({ length: MUTATING_MAX }, () => slowPost("nobody"));
		const gauge = "apiserver_current_inflight_requests{request_kind=mutating}";
		expect(server.metrics.values.get(gauge)).toBe(MUTATING_MAX);

		const refused = await slowPost("nobody").answer;
		expect(refused.status).toBe(429);
		expect(refused.headers["retry-after"]).toBe("1");
		expect(JSON.parse(new TextDecoder().decode(refused.body as Uint8Array))).toMatchObject({
			reason: "TooManyRequests",
			message: "Too many requests, please try again later.",
			details: { retryAfterSeconds: 1 },
		});
		expect((await server.request("GET", "/api/v1", { token: "nobody" })).status).toBe(200);

		const admin = slowPost(ADMIN.name);
		admin.send();
		expect((await admin.answer).status).toBe(201);

		for (const { send } of open) send();
		const statuses = await Promise.all(open.map(async ({ answer }) => (await answer).status));
		expect(new Set(statuses)).toEqual(new Set([201]));
		expect(server.metrics.values.get(gauge)).toBe(0);
		const later = slowPost("nobody");
		later.send();
		expect((await later.answer).status).toBe(201);
	});

	test("do not count watches", async () => {
		const watches = await Promise.all(Array.from({ length: 500 }, () => server.watch("/api/v1/namespaces?watch=true")));
		expect(server.metrics.values.get("apiserver_current_inflight_requests{request_kind=readOnly}") ?? 0).toBe(0);
		for (const watch of watches) watch.close();
	});
});
