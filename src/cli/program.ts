/** The command line's words. */
import { Command } from "commander";
import { addApiserverCommand } from "./apiserver.ts";
import { addCompletionCommand } from "./completion.ts";
import { addControllersCommand } from "./controllers.ts";
import { addDnsCommand } from "./dns.ts";
import { addExecCommands } from "./exec.ts";
import { addExplainCommand } from "./explain.ts";
import { addFailCommands } from "./fail.ts";
import { addKubeconfigCommand } from "./kubeconfig.ts";
import { addKubeletCommand } from "./kubelet.ts";
import { addProxyCommand } from "./proxy.ts";
import { addScenarioCommand } from "./scenario.ts";
import { addStoreCommand } from "./store.ts";
import { addUpCommand } from "./up.ts";
import { UsageError } from "./usage-error.ts";
import { addVersionCommand, VERSION_LINE } from "./version.ts";
import { addWatchCostCommand } from "./watch-cost.ts";

/** Commands whose parts this version does not have. */
const NOT_BUILT_COMMANDS = ["migrate"] as const;

/** @param setStatus Called with the exit status of a command that ran to its end. */
export function program(setStatus: (status: number) => void): Command {
	const root = new Command("sliceplane")
		.description("The Kubernetes service-discovery plane: one command, a real API, live EndpointSlices.")
		.version(VERSION_LINE, "--version", "print the version")
		.exitOverride()
		.showHelpAfterError("(run with --help for the options, and an example)")
		.addHelpText("after", "\nExample:\n  $ sliceplane up\n  $ KUBECONFIG=.sliceplane/kubeconfig kubectl get nodes\n");
	addUpCommand(root, setStatus);
	addExecCommands(root, setStatus);
	addExplainCommand(root, setStatus);
	addFailCommands(root);
	addKubeconfigCommand(root);
	addDnsCommand(root, setStatus);
	addApiserverCommand(root, setStatus);
	addControllersCommand(root, setStatus);
	addKubeletCommand(root, setStatus);
	addProxyCommand(root, setStatus);
	addStoreCommand(root, setStatus);
	addScenarioCommand(root, setStatus);
	addWatchCostCommand(root);
	addVersionCommand(root);
	addCompletionCommand(root);
	for (const name of NOT_BUILT_COMMANDS) {
		root
			.command(name, { hidden: true })
			.helpOption(false)
			.allowUnknownOption()
			.allowExcessArguments()
			.action(() => {
				throw new UsageError(`${name}: not built yet`);
			});
	}
	return root;
}
