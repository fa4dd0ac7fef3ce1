/**
 * Sends HTTP requests to one address and prints a line of JSON.
 *
 *     node bench/proxy-load.mjs HOST:PORT fresh|kept|open SECONDS
 *
 * `fresh`: each request on a connection of its own, 32 at once; `kept`: on kept connections, 32 at once; `open`: 1,000 a
 * second on kept connections, whether or not the earlier ones were answered, timed from when each was due.
 */
import { Agent, request } from "node:http";

const CONCURRENCY = 32;
const OPEN_PER_SECOND = 1000;

const [address = "", mode = "fresh", seconds = "3"] = process.argv.slice(2);
const [host, port] = address.split(":");
const agent =
	mode === "fresh" ? false : new Agent({ keepAlive: true, maxSockets: mode === "open" ? 200 : CONCURRENCY });
const latencies = [];
let errors = 0;

function send(dueMs) {
	return new Promise((resolve) => {
		const sent = request({ host, port, agent, timeout: 5_000 }, (response) => {
			response.resume();
			response.once("end", () => {
				latencies.push(performance.now() - dueMs);
				resolve();
			});
		});
		sent.once("timeout", () => sent.destroy());
		sent.once("error", () => {
			errors++;
			resolve();
		});
		sent.end();
	});
}

async function closedLoop(endMs) {
	const client = async () => {
		while (performance.now() < endMs) await send(performance.now());
	};
	await Promise.all(Array.from({ length: CONCURRENCY }, client));
}

async function openLoop(startMs, endMs) {
	const open = [];
	for (let sent = 0; performance.now() < endMs; ) {
		const due = Math.floor(((performance.now() - startMs) / 1000) * OPEN_PER_SECOND);
		for (; sent < due; sent++) open.push(send(startMs + (sent / OPEN_PER_SECOND) * 1000));
		await new Promise((resolve) => setImmediate(resolve));
	}
	await Promise.all(open);
}

/** Connections are made and code is warm before it counts. */
async function warm() {
	const endMs = performance.now() + 500;
	await closedLoop(endMs);
	latencies.length = 0;
	errors = 0;
}

await warm();
const startMs = performance.now();
const endMs = startMs + Number(seconds) * 1000;
await (mode === "open" ? openLoop(startMs, endMs) : closedLoop(endMs));
const tookMs = performance.now() - startMs;
const sorted = latencies.sort((a, b) => a - b);
const at = (share) =>
	Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 100) / 100;
const perSecond = Math.round((sorted.length / tookMs) * 1000);
process.stdout.write(`${JSON.stringify({ perSecond, p50Ms: at(0.5), p99Ms: at(0.99), errors })}\n`);
process.exit(0);
