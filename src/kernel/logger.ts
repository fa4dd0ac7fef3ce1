/** Structured facts beside a constant message. Never secrets: no tokens, keys or Secret data. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Where programs tell what they did. Constant message, past tense, facts as fields.
 *
 * `error` is what a person must act on, `warn` is retried, `info` is a change of state, `debug` the rest.
 */
export interface Logger {
	debug(message: string, fields?: LogFields): void;
	info(message: string, fields?: LogFields): void;
	warn(message: string, fields?: LogFields): void;
	error(message: string, fields?: LogFields): void;
}
