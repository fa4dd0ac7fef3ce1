/** The thread of the data plane: its traffic shares no event loop with the API. */
import { parentPort, workerData } from "node:worker_threads";
import { CryptoRandom } from "../edge/crypto-random.ts";
import { SystemClock } from "../edge/system-clock.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { LogFields, Logger } from "../kernel/logger.ts";
import { DataPlaneEngine } from "./data-plane-engine.ts";
import type { DataPlaneConfig, FromDataPlane, ToDataPlane } from "./data-plane-messages.ts";
import { ForwardedMetrics } from "./data-plane-metrics.ts";

const MEASURED_EVERY_MS = 1_000;

function forwardedLog(send: (message: FromDataPlane) => void): Logger {
	const at =
		(level: "debug" | "info" | "warn" | "error") =>
		(message: string, fields: LogFields = {}): void =>
			send({ kind: "log", level, message, fields });
	return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

async function measure(metrics: ForwardedMetrics, send: (message: FromDataPlane) => void, signal: AbortSignal) {
	const clock = new SystemClock();
	while (!signal.aborted) {
		await clock.sleep(MEASURED_EVERY_MS, signal).catch(() => undefined);
		const measurements = metrics.take();
		if (measurements.length > 0) send({ kind: "measured", measurements });
	}
}

function run(): void {
	const port = assertDefined(parentPort, "the port of the thread that started this one");
	const send = (message: FromDataPlane): void => port.postMessage(message);
	const metrics = new ForwardedMetrics();
	const ports = { clock: new SystemClock(), random: new CryptoRandom(), log: forwardedLog(send), metrics, send };
	// Written by the thread that starts this one, with the same type.
	const engine = new DataPlaneEngine(workerData as DataPlaneConfig, ports);
	const stopping = new AbortController();
	port.on("message", (message: ToDataPlane) => {
		engine.receive(message);
		if (message.kind !== "stop") return;
		stopping.abort();
		// Without the port and the sockets nothing keeps the thread.
		port.close();
	});
	void measure(metrics, send, stopping.signal);
}

run();
