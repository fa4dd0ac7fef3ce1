/** Flags that have a value and a default, as tables. */
import { type Command, Option } from "commander";

/** A flag with a value: its words, how the value is read, and its default as one would type it. */
export type Row = readonly [flags: string, description: string, read: (value: string) => unknown, byDefault: string];

/** Those with the default "" are shown as having none. */
export function addRows(command: Command, rows: readonly Row[]): void {
	for (const [flags, description, read, byDefault] of rows) {
		command.addOption(new Option(flags, description).argParser(read).default(read(byDefault), byDefault || "none"));
	}
}
