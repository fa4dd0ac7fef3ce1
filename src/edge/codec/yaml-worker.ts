/** The thread that reads YAML, one text after the other: the worst of them keep it busy until it is ended. */
import { parentPort } from "node:worker_threads";
import { assertDefined } from "../../kernel/assert.ts";
import { stepBehind } from "../thread-priority.ts";
import { type ParsedYaml, parseYaml } from "./yaml.ts";

export interface ToYaml {
	readonly text: string;
	/** Whether a key may come twice. */
	readonly mayRepeat: boolean;
}

export interface FromYaml {
	readonly parsed: ParsedYaml;
	/** Paths of the keys that came twice. */
	readonly repeated: readonly string[];
}

// It keeps a core busy, and those who sent something short are not to wait for that.
stepBehind();

const port = assertDefined(parentPort, "the port of the thread that started this one");

port.on("message", async ({ text, mayRepeat }: ToYaml) => {
	const repeated: string[] = [];
	const parsed = await (mayRepeat ? parseYaml(text, repeated) : parseYaml(text));
	port.postMessage({ parsed, repeated } satisfies FromYaml);
});
