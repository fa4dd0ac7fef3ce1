/**
 * Requests at a steady rate from where it runs, until stdin ends. Says `started`, and at the end one line of JSON: how
 * many were sent, and how often each failure was seen.
 *
 *     node load.mjs 200 http://10.96.0.20/delay?ms=50 kept+http://shop.default.svc/delay?ms=50
 *
 * The addresses are asked in turn; `kept+` goes over connections that are kept, anything else over new ones.
 */
import { Agent, get } from "node:http";

const [perSecond, ...ways] = process.argv.slice(2);
const kept = new Agent({ keepAlive: true, maxSockets: 20, scheduling: "fifo" });
const TIMEOUT_MS = 5_000;
const TICK_MS = 5;
const failures = {};
const open = new Set();
let sent = 0;

function once(way) {
	const isKept = way.startsWith("kept+");
	return new Promise((resolve) => {
		const request = get(
			isKept ? way.slice(5) : way,
			{ agent: isKept ? kept : false, timeout: TIMEOUT_MS },
			(response) => {
				response.resume();
				response.once("end", () => resolve(response.statusCode === 200 ? undefined : response.statusCode));
				response.once("error", (error) => resolve(error.code));
			},
		);
		request.once("timeout", () => request.destroy(Object.assign(new Error("timeout"), { code: "TIMEOUT" })));
		request.once("error", (error) => resolve(error.code ?? error.message));
	});
}

process.stdout.write("started\n");
const startMs = performance.now();
const timer = setInterval(() => {
	const due = Math.floor(((performance.now() - startMs) / 1000) * Number(perSecond));
	for (; sent < due; sent++) {
		const way = ways[sent % ways.length];
		const one = once(way).then((failure) => {
			open.delete(one);
			if (failure !== undefined) failures[`${way}: ${failure}`] = (failures[`${way}: ${failure}`] ?? 0) + 1;
		});
		open.add(one);
	}
}, TICK_MS);

process.stdin.resume().once("end", async () => {
	clearInterval(timer);
	await Promise.all(open);
	process.stdout.write(`${JSON.stringify({ sent, failures })}\n`);
	process.exit(0);
});
