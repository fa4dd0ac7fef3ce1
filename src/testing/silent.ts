import type { Logger } from "../kernel/logger.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../kernel/metrics.ts";

const nothing = (): void => undefined;

/** For tests that do not look at the log. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** For tests that do not look at the metrics. */
export const silentMetrics: Metrics = {
	counter: (): Counter => ({ add: nothing }),
	gauge: (): Gauge => ({ set: nothing }),
	histogram: (): Histogram => ({ observe: nothing }),
	onRead: nothing,
};
