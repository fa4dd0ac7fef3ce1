/** Log lines on stderr: one JSON object a line. */
import { destination, type Level, pino, type SerializedError } from "pino";
import { ApiError } from "../api/status.ts";
import { clipped } from "../kernel/clipped.ts";
import type { LogFields, Logger } from "../kernel/logger.ts";
import { TransportError } from "../machinery/api-client.ts";

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

/** Characters of a refusal: what is wrong with a long object is in the answer to who sent it. */
const REFUSAL_MAX = 2_048;

const STACK_MAX = 4_096;
const ERRORS_MAX = 5;

/** Of a refusal, and of a server that is away, it helps nobody where in the program that was noticed. */
function shown(error: unknown): unknown {
	if (error instanceof ApiError || error instanceof TransportError) return clipped(error.message, REFUSAL_MAX);
	return error instanceof Error ? inShort(pino.stdSerializers.err(error)) : error;
}

/** Errors of one sync are told as one, each of which may quote an object. */
function inShort({ message, stack, aggregateErrors, ...rest }: SerializedError): object {
	const errors = aggregateErrors?.slice(0, ERRORS_MAX).map(inShort);
	const told = { ...rest, message: clipped(message, REFUSAL_MAX), stack: clipped(stack, STACK_MAX) };
	return errors === undefined ? told : { ...told, aggregateErrors: errors };
}
