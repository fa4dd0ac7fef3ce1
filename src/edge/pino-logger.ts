/** Log lines on stderr: one JSON object a line. */
import { destination, type Level, pino } from "pino";
import { ApiError } from "../api/status.ts";
import type { LogFields, Logger } from "../kernel/logger.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** What never stands in a log, wherever it is in the fields. */
const SECRET_PATHS = ["token", "authorization", "privateKey", "*.token", "*.authorization", "*.privateKey", "*.data"];

export function pinoLogger(level: LogLevel): Logger {
	const log = pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			redact: SECRET_PATHS,
			errorKey: "error",
			serializers: { error: shown },
		},
		destination({ fd: 2, sync: true }),
	);
	const at =
		(method: Level) =>
		(message: string, fields: LogFields = {}): void =>
			log[method](fields, message);
	return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A refusal is an answer: where in the program it was given helps nobody. */
function shown(error: unknown): unknown {
	if (error instanceof ApiError) return error.message;
	return error instanceof Error ? pino.stdSerializers.err(error) : error;
}
