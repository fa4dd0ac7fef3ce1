/** The thread that reads YAML: the worst text within the limit keeps it busy for a second, and nobody else. */
import { parentPort } from "node:worker_threads";
import { assertDefined } from "../../kernel/assert.ts";
import { type ParsedYaml, parseYaml } from "./yaml.ts";

export interface ToYaml {
	readonly id: number;
	readonly text: string;
	/** Whether a key may come twice. */
	readonly mayRepeat: boolean;
}

export interface FromYaml {
	readonly id: number;
	readonly parsed: ParsedYaml;
	/** Paths of the keys that came twice. */
	readonly repeated: readonly string[];
}

const port = assertDefined(parentPort, "the port of the thread that started this one");

port.on("message", async ({ id, text, mayRepeat }: ToYaml) => {
	const repeated: string[] = [];
	const parsed = await (mayRepeat ? parseYaml(text, repeated) : parseYaml(text));
	port.postMessage({ id, parsed, repeated } satisfies FromYaml);
});
