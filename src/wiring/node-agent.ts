/** The process in a network namespace: a node's pods listen there, or the cluster's DNS. It ends with its plane. */
import { CryptoRandom } from "../edge/crypto-random.ts";
import { PrometheusMetrics } from "../edge/prometheus-metrics.ts";
import { SystemClock } from "../edge/system-clock.ts";
import { unreachable } from "../kernel/assert.ts";
import type { LogFields, Logger } from "../kernel/logger.ts";
import { LanServices } from "./lan-services.ts";
import type { FromNodeAgent, NodeAgentConfig, ToNodeAgent } from "./node-agent-messages.ts";
import { NodePods } from "./node-pods.ts";

function run(): void {
	const send = (message: FromNodeAgent): void => {
		// Node throws when the plane is gone already; then this process ends, too.
		if (process.connected) process.send?.(message);
	};
	const ports = {
		clock: new SystemClock(),
		random: new CryptoRandom(),
		metrics: new PrometheusMetrics(),
		log: sentLog(send),
		send,
	};
	let pods: NodePods | undefined;
	let lan: LanServices | undefined;
	const start = async (config: NodeAgentConfig): Promise<void> => {
		if (config.kind === "node") pods = NodePods.start(config, ports);
		else lan = await LanServices.start(config, ports);
	};
	const receive = async (message: ToNodeAgent): Promise<void> => {
		switch (message.kind) {
			case "start":
				await start(message.config);
				return send({ kind: "ready" });
			case "pods":
				await pods?.update(message.pods);
				return send({ kind: "done", id: message.id });
			case "tables":
				await pods?.updateTables(message.tables);
				return send({ kind: "done", id: message.id });
			case "zone":
				lan?.update(message);
				return send({ kind: "done", id: message.id });
			case "relayed":
				return lan?.relayed(message.relay, message.answer);
			default:
				unreachable(message);
		}
	};
	process.on("message", (message: ToNodeAgent) => {
		receive(message).catch((error: unknown) =>
			send({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
		);
	});
	process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
	// Of a terminal they go to all its processes: it is the plane that ends this one.
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
}

function sentLog(send: (message: FromNodeAgent) => void): Logger {
	const at =
		(level: "debug" | "info" | "warn" | "error") =>
		(message: string, fields: LogFields = {}): void =>
			send({ kind: "log", level, message, fields });
	return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

run();
