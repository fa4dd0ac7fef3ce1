import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { CONFIG_MAPS } from "../api/resource-names.ts";
import { HttpClient } from "../edge/http-client.ts";
import { readKubeconfig } from "../edge/kubeconfig-reader.ts";
import { startTestPlane, type TestPlane } from "./test-plane.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

function barePlane(): Promise<TestPlane> {
	return startTestPlane({ nodes: 0, controllers: [] });
}

function post(plane: TestPlane, name: string): Promise<Response> {
	const body = JSON.stringify({ metadata: { name, annotations: { town: "Ząb" } } });
	return plane.fetch(MAPS, { method: "POST", body, headers: { "content-type": "application/json" } });
}

test("answers as the API over a socket does, by path, URL or Request", async () => {
	const plane = await barePlane();
	const created = await post(plane, "a");
	expect([created.status, created.headers.get("content-type")]).toEqual([201, "application/json"]);
	const url = new URL(`https://any.host${MAPS}/a?pretty=true`);
	for (const place of [`${MAPS}/a`, url, url.href, new Request(url)]) {
		expect(await (await plane.fetch(place)).json()).toMatchObject({ metadata: { annotations: { town: "Ząb" } } });
	}
	expect((await plane.fetch(`${MAPS}/b`)).status).toBe(404);
	// fetch itself calls a text without a type text/plain, which an API server refuses.
	expect((await plane.fetch(MAPS, { method: "POST", body: "{}" })).status).toBe(415);
	await plane.stop();
});

test("has the rights of the admin, or of the credentials that it is given", async () => {
	const plane = await barePlane();
	const statusAs = async (authorization: string): Promise<number> =>
		(await plane.fetch(MAPS, { headers: { authorization } })).status;
	expect((await plane.fetch(MAPS)).status).toBe(200);
	expect(await statusAs("Bearer nobody")).toBe(403);
	expect(await statusAs("Bearer wrong")).toBe(401);
	await plane.stop();
});

test("streams a watch until its time is over, which is virtual", async () => {
	const plane = await barePlane();
	const { body } = await plane.fetch(`${MAPS}?watch=true&timeoutSeconds=600`);
	const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
	await post(plane, "a");
	const { value = "" } = await reader.read();
	expect(JSON.parse(value)).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
	const ended = (async () => {
		for (;;) if ((await reader.read()).done) return plane.clock.monotonicMs();
	})();
	await plane.advance(700_000);
	expect(await ended).toBeGreaterThanOrEqual(600_000);
	await plane.stop();
});

test("a reader that does not read makes the server wait, and loses nothing", async () => {
	const plane = await barePlane();
	const { body } = await plane.fetch(`${MAPS}?watch=true`);
	const data = { text: "x".repeat(300_000) };
	for (let index = 0; index < 8; index++) {
		const sent = JSON.stringify({ metadata: { name: `m${index}` }, data });
		await plane.fetch(MAPS, { method: "POST", body: sent, headers: { "content-type": "application/json" } });
		await plane.settle();
	}
	const names: string[] = [];
	let text = "";
	for await (const chunk of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
		const lines = (text + chunk).split("\n");
		text = lines.pop() ?? "";
		names.push(...lines.map((line) => JSON.parse(line).object.metadata.name));
		if (names.length === 8) break;
	}
	expect(names).toEqual(Array.from({ length: 8 }, (_, index) => `m${index}`));
	await plane.stop();
});

test("an aborted request rejects, and an aborted watch ends at once", async () => {
	const plane = await barePlane();
	await expect(plane.fetch(MAPS, { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
	const leaving = new AbortController();
	const { body } = await plane.fetch(`${MAPS}?watch=true`, { signal: leaving.signal });
	const reading = (body as ReadableStream<Uint8Array>).getReader().read();
	leaving.abort();
	await expect(reading).rejects.toThrow("aborted");
	await plane.settle();
	expect(plane.clock.sleepers).toBe(0);
	await plane.stop();
});

test("listens where a client with the kubeconfig finds it, until it is closed", async () => {
	const plane = await barePlane();
	await post(plane, "a");
	const { url, kubeconfig, close } = await plane.listen();
	expect((await stat(kubeconfig)).mode & 0o777).toBe(0o600);
	const access = await readKubeconfig({ file: kubeconfig, defaultFile: "" });
	expect(access.server).toBe(url);
	const client = new HttpClient({ ...access, random: plane.server.ports.random });
	expect((await client.get(CONFIG_MAPS, { namespace: "default", name: "a" })).metadata.name).toBe("a");
	client.close();
	await close();
	await expect(stat(kubeconfig)).rejects.toThrow("ENOENT");
	await plane.stop();
});
