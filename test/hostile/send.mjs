/**
 * Sends hostile requests to a plane on this machine, some at once, and prints a JSON line for each that was not
 * answered as it must be, then one with figures.
 *
 *     node test/hostile/send.mjs --kubeconfig PATH --seed 7 --count 1000 --gateway 127.0.0.1:PORT
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
import { parseArgs } from "node:util";
import { hostileRequests } from "./requests.mjs";

const { values } = parseArgs({
	options: {
		kubeconfig: { type: "string" },
		/** Without it none are sent to the gateway. */
		gateway: { type: "string" },
		seed: { type: "string", default: "1" },
		count: { type: "string", default: "1000" },
		/** A kind that is left out, such as `lists`, whose requests are long, but right. */
		without: { type: "string", default: "" },
		"at-once": { type: "string", default: "8" },
		/** So many a second at most; 0: as fast as they are answered. */
		rate: { type: "string", default: "0" },
		/** Says when all is made, and begins when something comes on stdin: making them takes a core, too. */
		hold: { type: "boolean", default: false },
	},
});

/** Longer than the server lets anybody take. */
const ANSWER_MS_MAX = 60_000;
/** Kinds that are shown with their times. */
const SHOWN = 20;

const config = JSON.parse(readFileSync(values.kubeconfig, "utf8"));
const { server } = config.clusters[0].cluster;
const ca = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64");
const { token } = config.users[0].user;
const { hostname, port } = new URL(server);
const [gatewayHost, gatewayPort] = (values.gateway ?? "127.0.0.1:0").split(":");
for (const host of [hostname, gatewayHost]) {
	if (host !== "127.0.0.1") throw new Error(`${host}: only a plane at 127.0.0.1 is sent hostile requests`);
}

function connected({ noTls, isForGateway }) {
	if (isForGateway) return connectPlain({ host: gatewayHost, port: Number(gatewayPort) });
	const place = { host: hostname, port: Number(port) };
	return noTls ? connectPlain(place) : connectTls({ ...place, ca, servername: "localhost" });
}

const withToken = (bytes) => Buffer.from(bytes.toString("latin1").replace("$TOKEN", token), "latin1");

/** Returns how to stop. */
function sendSlowly(socket, bytes, everyMs) {
	let sent = 0;
	const trickle = setInterval(() => {
		if (sent < bytes.length && !socket.destroyed) socket.write(bytes.subarray(sent, ++sent));
	}, everyMs);
	return () => clearInterval(trickle);
}

/** Returns how to stop. */
function send(socket, request) {
	const { isSilent, everyMs, slowBody, more = 0, isHalfClosed } = request;
	const nothing = () => undefined;
	if (isSilent) return nothing;
	const head = withToken(Buffer.from(request.head, "latin1"));
	if (everyMs !== undefined && slowBody === undefined) return sendSlowly(socket, head, everyMs);
	if (everyMs !== undefined) {
		socket.write(head);
		return sendSlowly(socket, Buffer.from(slowBody), everyMs);
	}
	const body = request.head === "" ? withToken(request.body) : request.body;
	socket.write(Buffer.concat([head, body, Buffer.alloc(more, " ")]));
	if (isHalfClosed) socket.end();
	return nothing;
}

/** The status of the answer, or "cut". */
function answerOf(request) {
	return new Promise((resolve) => {
		const socket = connected(request);
		let text = "";
		let stop = () => undefined;
		const done = (answer) => {
			clearTimeout(late);
			stop();
			socket.destroy();
			resolve(answer);
		};
		const late = setTimeout(() => done("no answer"), ANSWER_MS_MAX);
		socket.on("data", (chunk) => {
			text += chunk.toString("latin1");
			const status = /^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1];
			if (status !== undefined && status !== "100") done(Number(status));
		});
		// Whoever is cut off in the middle of its bytes sees a reset.
		socket.on("error", () => undefined);
		socket.on("close", () => done("cut"));
		socket.on(socket.encrypted ? "secureConnect" : "connect", () => {
			stop = send(socket, request);
		});
	});
}

/** Those that take as long as they are let keep nobody waiting. */
const isSlow = ({ request }) => request.everyMs !== undefined || request.isSilent;

let startedMs = performance.now();
/** Milliseconds by kind, of those that do not take their time themselves. */
const took = new Map();
let wrong = 0;

async function asked({ what, request, answers }) {
	const fromMs = performance.now();
	const answer = await answerOf(request);
	const ms = Math.round(performance.now() - fromMs);
	if (!isSlow({ request })) took.set(what, [...(took.get(what) ?? []), ms]);
	if (answers.includes(answer)) return;
	wrong++;
	process.stdout.write(`${JSON.stringify({ what, answer, want: answers })}\n`);
}

/** Kinds by the median of their times, the slowest first. */
function slowest(count) {
	const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
	const kinds = [...took].map(([what, times]) => ({ what, medianMs: median(times) }));
	return kinds.sort((a, b) => b.medianMs - a.medianMs).slice(0, count);
}

const all = hostileRequests(Number(values.seed), Number(values.count), values.gateway !== undefined);
const requests = all.filter(({ what }) => !what.startsWith(`${values.without}:`));
const [slow, quick] = [requests.filter(isSlow), requests.filter((request) => !isSlow(request))];
const rate = Number(values.rate);
let next = 0;

async function sender() {
	while (next < quick.length) {
		const dueMs = rate === 0 ? 0 : startedMs + (next * 1_000) / rate - performance.now();
		const request = quick[next++];
		if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
		await asked(request);
	}
}

if (values.hold) {
	process.stderr.write("ready\n");
	await once(process.stdin, "data");
	process.stdin.destroy();
	startedMs = performance.now();
}
await Promise.all([...slow.map(asked), ...Array.from({ length: Number(values["at-once"]) }, sender)]);
const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
process.stdout.write(`${JSON.stringify({ sent: requests.length, wrong, seconds, slowest: slowest(SHOWN) })}\n`);
