/** `sliceplane store`: looks at the folder of `up --data-dir`, copies it, and makes a new one of a copy. */
import { type Command, Option } from "commander";
import type { StoreCheck } from "../edge/lmdb-check.ts";
import { SystemClock } from "../edge/system-clock.ts";
import { startRevision } from "../store/memory-engine.ts";
import { folder } from "./flag-values.ts";
import { stopSignal } from "./until-stopped.ts";

interface StoreFlags {
	readonly dataDir: string;
	readonly output: "text" | "json";
}

export function addStoreCommand(root: Command, setStatus: (status: number) => void): void {
	const store = root
		.command("store")
		.description("Check, copy and restore the folder of up --data-dir.")
		.addHelpText(
			"after",
			"\nExample:\n  $ sliceplane store snapshot backup --data-dir data\n  $ sliceplane store restore backup --data-dir new\n",
		);
	const command = (name: string, description: string): Command =>
		store
			.command(name)
			.description(description)
			.requiredOption("--data-dir <dir>", "the folder", folder)
			.addOption(new Option("-o, --output <form>", "how to print").choices(["text", "json"]).default("text"));
	command("check", "Read everything in a folder that no plane uses; status 1 when there is a fault.").action(
		async (flags: StoreFlags) => {
			const { checkDataFolder } = await import("../wiring/data-folder.ts");
			setStatus(print(await checkDataFolder(flags.dataDir), flags));
		},
	);
	command("snapshot", "Copy the store into a new folder, while a plane may go on.")
		.argument("<to>", "the new folder", folder)
		.action(async (to: string, flags: StoreFlags) => {
			const { snapshotDataFolder } = await import("../wiring/data-folder.ts");
			setStatus(print(await snapshotDataFolder(flags.dataDir, to, stopSignal()), flags));
		});
	command("restore", "Make a new data folder of a snapshot; revisions go on above all of before.")
		.argument("<from>", "the snapshot", folder)
		.action(async (from: string, flags: StoreFlags) => {
			const { restoreDataFolder } = await import("../wiring/data-folder.ts");
			const revision = startRevision(new SystemClock().wallMs());
			setStatus(print(await restoreDataFolder(from, flags.dataDir, revision, stopSignal()), flags));
		});
}

/** @returns The exit status. */
function print(found: StoreCheck, { output }: StoreFlags): number {
	const { revision, baseRevision, objects, commits, problems } = found;
	if (output === "json") process.stdout.write(`${JSON.stringify(found)}\n`);
	else {
		const past = `watches go on from revision ${baseRevision} (${commits} commits)`;
		const counted = objects === undefined ? "objects not counted" : `${objects} objects`;
		process.stdout.write(`revision ${revision}, ${counted}, ${past}\n`);
		for (const problem of problems) process.stdout.write(`fault: ${problem}\n`);
	}
	return problems.length === 0 ? 0 : 1;
}
