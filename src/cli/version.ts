import type { Command } from "commander";
import { stringifyYaml } from "../edge/codec/yaml.ts";
import { VERSION } from "../wiring/version.ts";

export const VERSION_LINE: string = `sliceplane ${VERSION.sliceplane}, Kubernetes API ${VERSION.api.gitVersion}`;

/** `sliceplane version`: of the program, and of the Kubernetes API that it serves. */
export function addVersionCommand(root: Command): void {
	root
		.command("version")
		.description("Print the version of the program and of the Kubernetes API that it serves.")
		.option("-o, --output <format>", "json or yaml")
		.addHelpText("after", "\nExample:\n  $ sliceplane version -o json\n")
		.action(async ({ output }: { output?: string }, command: Command) => {
			const versions = { sliceplane: VERSION.sliceplane, kubernetes: VERSION.api.gitVersion, node: process.version };
			if (output === undefined) {
				process.stdout.write(`${VERSION_LINE}\n`);
			} else if (output === "json") process.stdout.write(`${JSON.stringify(versions, undefined, 2)}\n`);
			else if (output === "yaml") process.stdout.write(await stringifyYaml(versions));
			else command.error(`error: -o ${output}: want json or yaml`);
		});
}
