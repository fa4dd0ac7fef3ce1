/** The real clock, random numbers, log and metrics, made once and handed to every part. */
import { CryptoRandom } from "../edge/crypto-random.ts";
import { type LogLevel, pinoLogger } from "../edge/pino-logger.ts";
import { PrometheusMetrics } from "../edge/prometheus-metrics.ts";
import { SystemClock } from "../edge/system-clock.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";

export interface SystemPorts {
	readonly clock: Clock;
	readonly random: CryptoRandom;
	readonly log: Logger;
	readonly metrics: PrometheusMetrics;
}

export function systemPorts(logLevel: LogLevel): SystemPorts {
	return {
		clock: new SystemClock(),
		random: new CryptoRandom(),
		log: pinoLogger(logLevel),
		metrics: new PrometheusMetrics(),
	};
}
