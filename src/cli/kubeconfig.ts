/** `sliceplane kubeconfig --user NAME`: credentials of another user, to try what that one may do. */

import type { Command } from "commander";
import { cacheFolder } from "../edge/cache-folder.ts";
import { CONTEXT, PLANE_KUBECONFIG } from "./flag-rows.ts";
import { collect, userName } from "./flag-values.ts";

interface KubeconfigFlags {
	readonly user: string;
	readonly group?: readonly string[];
	readonly kubeconfig?: string;
	readonly context?: string;
}

export function addKubeconfigCommand(root: Command): void {
	root
		.command("kubeconfig")
		.description(
			"Print a kubeconfig for another user of a plane that runs: one with a client certificate.\n" +
				"What the user may do is what roles give to its name and groups.",
		)
		.requiredOption("--user <name>", "the user", userName)
		.option("--group <name>", "a group of the user; may be repeated", collect)
		.option(...PLANE_KUBECONFIG)
		.option(...CONTEXT)
		.addHelpText("after", "\nExample:\n  $ umask 077; sliceplane kubeconfig --user ann --group dev > ann.kubeconfig\n")
		.action(async ({ user, group = [], ...choice }: KubeconfigFlags) => {
			// Loaded only now: wrong usage and --help must answer at once.
			const { clientKubeconfig } = await import("../wiring/client-kubeconfig.ts");
			const asked = { ...choice, files: process.env["KUBECONFIG"] };
			process.stdout.write(await clientKubeconfig(asked, { user, groups: group }, cacheFolder()));
		});
}
