import { once } from "node:events";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { EchoPod, PodPort } from "./echo-pod.ts";
import { EchoPods } from "./echo-pods.ts";

function echoPod(name: string, ip: string, more: Partial<EchoPod> = {}): EchoPod {
	return {
		key: `default/${name}`,
		uid: `uid-${name}`,
		name,
		namespace: "default",
		nodeName: "n1",
		ips: [ip],
		labels: { app: "web" },
		ports: [],
		isReady: true,
		isTerminating: false,
		...more,
	};
}

function tcp(port: number): PodPort {
	return { port, protocol: "TCP" };
}

function connected(pods: EchoPods, ip: string, port = 8080): Duplex {
	const stream = pods.connect(ip, port);
	if (stream === undefined) throw new Error(`no pod has ${ip}`);
	return stream;
}

/** Sends each part in a turn of its own, closes the half, and gives everything that comes back. */
async function ask(stream: Duplex, ...parts: readonly string[]): Promise<string> {
	const answer = text(stream);
	for (const part of parts) {
		stream.write(part);
		await new Promise((resolve) => setImmediate(resolve));
	}
	stream.end();
	return answer;
}

function onePod(): EchoPods {
	const pods = new EchoPods({ clock: new VirtualClock(), answered: () => undefined });
	pods.put(echoPod("web-1", "10.244.0.2"));
	return pods;
}

describe("EchoPods", () => {
	test.each<{ asked: string; status: string; body: RegExp }>([
		{ asked: "GET /hostname", status: "200 OK", body: /^web-1$/ },
		{ asked: "HEAD /hostname", status: "200 OK", body: /^$/ },
		{ asked: "GET /status/503", status: "503 Service Unavailable", body: /^web-1$/ },
		{ asked: "GET /status/99", status: "400 Bad Request", body: /want a status from 200 to 599/ },
		{ asked: "GET /delay?ms=1", status: "200 OK", body: /^web-1$/ },
		{ asked: "GET /delay?ms=60001", status: "400 Bad Request", body: /want ms from 0 to 60000/ },
		{ asked: "GET /delay", status: "400 Bad Request", body: /want ms/ },
		{
			asked: "GET /headers?x-a=1&X-A=2&x-b=",
			status: "200 OK.*\\r\\nx-a: 1\\r\\nx-a: 2\\r\\nx-b: \\r\\n",
			body: /^web-1$/,
		},
		{ asked: "GET /headers?content-length=1", status: "400 Bad Request", body: /"content-length": want a header/ },
		{ asked: "GET /headers?x-a=a%0D%0Ab", status: "400 Bad Request", body: /"x-a": want a header/ },
		{ asked: "GET /healthz", status: "200 OK", body: /^ok$/ },
		{ asked: "GET //", status: "200 OK", body: /"path":"\/\/"/ },
	])("answers $asked with $status, even to a client that has closed its half", async ({ asked, status, body }) => {
		const request = `${asked} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
		const [head = "", content = ""] = (await ask(connected(onePod(), "10.244.0.2"), request)).split("\r\n\r\n");
		expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status}`, "s"));
		expect(head).toContain("\r\nsliceplane-pod: web-1\r\n");
		expect(content.replaceAll(/^[0-9a-f]+\r\n|\r\n0$/g, "")).toMatch(body);
	});

	test("tells who was asked what on any port, whatever way the bytes are cut", async () => {
		const stream = connected(onePod(), "10.244.0.2", 9999);
		const parts = ["P", "OST", " /a?b=c HTTP/1.0\r\nX-Test: 1\r\n", "Content-Length: 2\r\n\r\n", "hi"];
		const [, body = ""] = (await ask(stream, ...parts)).split("\r\n\r\n");
		expect(JSON.parse(body)).toEqual({
			pod: "web-1",
			namespace: "default",
			node: "n1",
			labels: { app: "web" },
			ip: "10.244.0.2",
			port: 9999,
			method: "POST",
			path: "/a?b=c",
			headers: { "x-test": "1", "content-length": "2" },
		});
	});

	test.each([["hello"], ["GEX"], ["GE"], ["\u0000\u0001", "more"], [""]])(
		"gives back bytes that are no HTTP: %j",
		async (...parts) => {
			expect(await ask(connected(onePod(), "10.244.0.2"), ...parts)).toBe(parts.join(""));
		},
	);

	test("gives back more than fits into any buffer", async () => {
		const sent = "x".repeat(3_000_000);
		expect((await ask(connected(onePod(), "10.244.0.2"), sent)) === sent).toBe(true);
	});

	test("answers broken HTTP with 400, and lives on", async () => {
		const pods = onePod();
		expect(await ask(connected(pods, "10.244.0.2"), "GET / nonsense\r\n\r\n")).toMatch(/^HTTP\/1.1 400/);
		expect(await ask(connected(pods, "10.244.0.2"), "x")).toBe("x");
	});

	test("has nobody at an address that no pod has, or has no more", () => {
		const pods = onePod();
		expect(pods.connect("10.244.0.3", 80)).toBeUndefined();
		pods.remove("default/web-1");
		expect(pods.connect("10.244.0.2", 80)).toBeUndefined();
	});

	test("an address that goes to another pod before the first is gone stays with the other", async () => {
		const pods = onePod();
		pods.put(echoPod("web-2", "10.244.0.2"));
		pods.remove("default/web-1");
		expect(await ask(connected(pods, "10.244.0.2"), "GET /hostname HTTP/1.0\r\n\r\n")).toMatch(/web-2$/);
	});

	test.each<{ rule: string; old: Partial<EchoPod>; late: Partial<EchoPod>; port: number; answers: string }>([
		{ rule: "that names the port", old: { ports: [tcp(80)] }, late: { ports: [tcp(81)] }, port: 80, answers: "old" },
		{
			rule: "that came last, of equals",
			old: { ports: [tcp(80)] },
			late: { ports: [tcp(80)] },
			port: 80,
			answers: "late",
		},
		{ rule: "that came last, if no one does", old: {}, late: { ports: [tcp(81)] }, port: 80, answers: "late" },
		{
			rule: "whose process has the port",
			old: { forwards: { 80: 1 } },
			late: { forwards: {} },
			port: 80,
			answers: "old",
		},
		{ rule: "that is no process, if no one has", old: {}, late: { forwards: { 81: 1 } }, port: 80, answers: "old" },
		{
			rule: "that names it for the protocol",
			old: { ports: [tcp(80)] },
			late: { ports: [{ port: 80, protocol: "UDP" }] },
			port: 80,
			answers: "old",
		},
	])("of pods with one node's address the one answers $rule", ({ old, late, port, answers }) => {
		const pods = new EchoPods({ clock: new VirtualClock(), answered: () => undefined });
		pods.put(echoPod("old", "192.168.0.1", { ...old, isReady: false }));
		pods.put(echoPod("late", "192.168.0.1", late));
		pods.put(echoPod("old", "192.168.0.1", old));
		expect(pods.at("192.168.0.1", port)?.name).toBe(answers);
	});

	test("ends the connections of a pod that is gone or replaced, not those of one that only changed", async () => {
		const pods = onePod();
		const stream = connected(pods, "10.244.0.2").resume();
		pods.put(echoPod("web-1", "10.244.0.2", { isReady: false }));
		await new Promise((resolve) => setImmediate(resolve));
		expect(stream.readableEnded).toBe(false);
		pods.put(echoPod("web-1", "10.244.0.2", { uid: "other" }));
		await once(stream, "end");
	});

	test("is not well while its annotations say so, though it may be Ready", async () => {
		const pods = onePod();
		const asked = async (more: Partial<EchoPod>): Promise<string> => {
			pods.put(echoPod("web-1", "10.244.0.2", more));
			return (await ask(connected(pods, "10.244.0.2"), "GET /readyz HTTP/1.0\r\n\r\n")).slice(9, 12);
		};
		const nowMs = new VirtualClock().wallMs();
		expect(await asked({ health: { fromMs: nowMs + 1, untilMs: undefined } })).toBe("503");
		expect(await asked({ health: { fromMs: nowMs, untilMs: nowMs + 1 }, isReady: false })).toBe("200");
		expect(await asked({ health: { fromMs: 0, untilMs: nowMs } })).toBe("503");
		expect(await asked({ isReady: false })).toBe("503");
	});
});

describe("a pod that terminates", () => {
	const Terminating = echoPod("web-1", "10.244.0.2", { isTerminating: true });

	async function answerOn(stream: Duplex, path: string): Promise<string> {
		stream.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
		const [chunk] = await once(stream, "data");
		return String(chunk);
	}

	/** Without closing its own half. */
	function untilClosed(stream: Duplex, path: string): Promise<string> {
		stream.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
		return text(stream);
	}

	test("closes connections that are idle", async () => {
		const pods = onePod();
		const stream = connected(pods, "10.244.0.2");
		expect(await answerOn(stream, "/hostname")).toContain("Connection: keep-alive");
		pods.put(Terminating);
		await once(stream.resume(), "end");
	});

	test("finishes the answer that is under way, says that it is the last, and closes", async () => {
		const pods = onePod();
		const stream = connected(pods, "10.244.0.2");
		const answer = untilClosed(stream, "/delay?ms=30");
		await new Promise((resolve) => setImmediate(resolve));
		pods.put(Terminating);
		expect(await answer).toMatch(/^HTTP\/1.1 200 OK.*connection: close/is);
	});

	test("still takes new connections, for one answer each, and echoes bytes until it is gone", async () => {
		const pods = onePod();
		const raw = connected(pods, "10.244.0.2");
		raw.write("one");
		expect(String((await once(raw, "data"))[0])).toBe("one");
		pods.put(Terminating);
		expect(await untilClosed(connected(pods, "10.244.0.2"), "/hostname")).toMatch(/connection: close/i);
		raw.write("two");
		expect(String((await once(raw, "data"))[0])).toBe("two");
		pods.remove("default/web-1");
		await once(raw, "end");
	});
});
