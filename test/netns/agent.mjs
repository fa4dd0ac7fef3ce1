/**
 * What a lab runs in a network namespace: serves and asks, as told by lines of JSON on stdin.
 *
 *     {"id": 1, "do": "serve", "name": "pa", "tcp": 8080, "udp": 5353}
 *     {"id": 2, "do": "ask", "protocol": "tcp", "host": "10.96.0.10", "port": 80, "times": 8}
 *
 * Answers are lines of JSON on stdout: for "ask", one word for each time: `pa from 10.244.1.12`, `refused`, `timeout`.
 */
import { createSocket } from "node:dgram";
import { createConnection, createServer } from "node:net";
import { createInterface } from "node:readline";

const held = new Map();

function serve({ name, tcp, udp, host }) {
	const opened = [];
	if (tcp !== undefined) {
		const server = createServer({ allowHalfOpen: true }, (socket) => {
			socket.on("error", () => undefined);
			socket.on("data", () => socket.write(`${name} from ${plain(socket.remoteAddress)}\n`));
			socket.on("end", () => socket.end());
		});
		opened.push(new Promise((resolve) => server.listen({ port: tcp, host }, resolve)));
	}
	if (udp !== undefined) {
		const socket = createSocket(host?.includes(":") ? "udp6" : "udp4");
		socket.on("message", (_, from) => socket.send(`${name} from ${plain(from.address)}`, from.port, from.address));
		opened.push(new Promise((resolve) => socket.bind(udp, host, resolve)));
	}
	return Promise.all(opened);
}

function plain(address = "?") {
	return address.replace(/^::ffff:/, "");
}

function askTcp({ host, port, source, timeoutMs = 1_000 }) {
	return new Promise((resolve) => {
		const socket = createConnection({ host, port, localAddress: source });
		const end = (word) => {
			clearTimeout(timer);
			socket.destroy();
			resolve(word);
		};
		const timer = setTimeout(() => end("timeout"), timeoutMs);
		socket.once("connect", () => socket.write("?\n"));
		socket.once("data", (data) => end(String(data).trim()));
		socket.once("error", (error) => end(error.code === "ECONNREFUSED" ? "refused" : (error.code ?? error.message)));
	});
}

function askUdp({ host, port, sourcePort, timeoutMs = 1_000 }) {
	return new Promise((resolve) => {
		const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
		const end = (word) => {
			clearTimeout(timer);
			socket.close();
			resolve(word);
		};
		const timer = setTimeout(() => end("timeout"), timeoutMs);
		socket.once("message", (data) => end(String(data)));
		socket.once("error", (error) => end(error.code === "ECONNREFUSED" ? "refused" : error.code));
		// Only a connected socket learns that nobody is there.
		socket.bind(sourcePort ?? 0, () =>
			socket.connect(port, host, (error) => (error ? end(error.code) : socket.send("?"))),
		);
	});
}

async function ask({ protocol = "tcp", times = 1, atOnce = false, ...how }) {
	const once = protocol === "tcp" ? askTcp : askUdp;
	if (atOnce) return Promise.all(Array.from({ length: times }, () => once(how)));
	const words = [];
	for (let time = 0; time < times; time++) words.push(await once(how));
	return words;
}

/** A connection that stays, to be asked again later. */
function hold({ key, host, port }) {
	return new Promise((resolve) => {
		const socket = createConnection({ host, port });
		socket.on("error", (error) => resolve(error.code));
		socket.once("connect", () => {
			held.set(key, socket);
			resolve("connected");
		});
	});
}

function say({ key, timeoutMs = 1_000 }) {
	return new Promise((resolve) => {
		const socket = held.get(key);
		const timer = setTimeout(() => resolve("timeout"), timeoutMs);
		const end = (word) => {
			clearTimeout(timer);
			resolve(word);
		};
		socket.once("data", (data) => end(String(data).trim()));
		socket.once("error", (error) => end(error.code));
		socket.write("?\n");
	});
}

const deeds = { serve, ask, hold, say };

createInterface({ input: process.stdin }).on("line", async (line) => {
	const { id, do: deed, ...how } = JSON.parse(line);
	const result = await deeds[deed](how).catch((error) => ({ error: error.message }));
	process.stdout.write(`${JSON.stringify({ id, result })}\n`);
});
// The lab's end is ours.
process.stdin.once("close", () => process.exit(0));
