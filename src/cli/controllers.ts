/** `sliceplane controllers`: the controllers alone, for any cluster that a kubeconfig leads to, or around this Pod. */
import { type Command, Option } from "commander";
import type { ApartOptions } from "../wiring/run-controllers.ts";
import { CONTROLLER_ROWS, type ControllerFlags, controllerOptionsOf } from "./controller-flags.ts";
import { addRows, CLUSTER_KUBECONFIG, CONTEXT, type Row } from "./flag-rows.ts";
import { durationMs, list, type Place, place, placeOrNone, truth } from "./flag-values.ts";
import { stopSignal } from "./until-stopped.ts";
import { refuseWrongOptions } from "./usage-error.ts";

interface ControllersFlags extends ControllerFlags {
	readonly kubeconfig?: string;
	readonly context?: string;
	readonly controllers?: readonly string[];
	readonly leaderElect: boolean;
	readonly leaderElectLeaseDuration: number;
	readonly leaderElectRenewDeadline: number;
	readonly leaderElectRetryPeriod: number;
	readonly leaderElectResourceName: string;
	readonly leaderElectResourceNamespace: string;
	readonly takeOver?: boolean;
	readonly metricsBindAddress: Place;
	readonly verbose?: boolean;
}

const ROWS: readonly Row[] = [
	...CONTROLLER_ROWS,
	["--leader-elect-lease-duration <duration>", "others wait so long for a leader's renewal", durationMs, "15s"],
	["--leader-elect-renew-deadline <duration>", "a leader that cannot renew for so long ends", durationMs, "10s"],
	["--leader-elect-retry-period <duration>", "between two attempts", durationMs, "2s"],
	["--leader-elect-resource-name <name>", "name of the Lease", String, "sliceplane-controllers"],
	["--leader-elect-resource-namespace <name>", "namespace of the Lease", String, "kube-system"],
	[
		"--metrics-bind-address <host:port>",
		"where /healthz and /metrics are served; '' is nowhere",
		place,
		"127.0.0.1:10252",
	],
];

export function addControllersCommand(root: Command, setStatus: (status: number) => void): void {
	const command = root
		.command("controllers")
		.description(
			"Run the controllers alone, for any API server. Prints one line when it leads and works.\n" +
				"It refuses to work beside another program that has the same controllers.",
		)
		.option(...CLUSTER_KUBECONFIG)
		.option(...CONTEXT)
		.addOption(
			new Option(
				"--controllers <list>",
				"controllers to run: '*' is all, '*,-name' leaves one out " +
					"(default: all on a Sliceplane API server, else the three of endpoints)",
			).argParser(list),
		);
	command.addOption(
		new Option("--leader-elect [bool]", "one of many such processes works, by a Lease; the others stand by")
			.argParser(truth)
			.preset("true")
			.default(true),
	);
	addRows(command, ROWS);
	command
		.option("--take-over", "work although a kube-controller-manager runs, or another program wrote the slices")
		.option("-v, --verbose", "log every decision")
		.addHelpText("after", "\nExample:\n  $ sliceplane controllers --kubeconfig admin.conf --controllers '*'\n")
		.action(async (flags: ControllersFlags) => setStatus(await serve(flags)));
}

/** Status 1 when it must not go on, so that whoever started it starts it anew. */
async function serve(flags: ControllersFlags): Promise<number> {
	const options = apartOptionsOf(flags);
	// Loaded only now: wrong usage and --help must answer at once.
	const { checkApartOptions, runControllers } = await import("../wiring/run-controllers.ts");
	const { clusterAccess } = await import("../wiring/cluster-client.ts");
	refuseWrongOptions(() => checkApartOptions(options));
	const signal = stopSignal();
	const access = await clusterAccess({ ...flags, files: process.env["KUBECONFIG"] });
	const news = {
		progress: (text: string) => void process.stderr.write(`${text}\n`),
		ready: (text: string) => void process.stdout.write(`Controllers are ready: ${text}\n`),
	};
	const why = await runControllers(access, options, news, signal);
	if (why === undefined) return 0;
	process.stderr.write(`error: ${why}\n`);
	return 1;
}

function apartOptionsOf(flags: ControllersFlags): ApartOptions {
	const election = {
		namespace: flags.leaderElectResourceNamespace,
		name: flags.leaderElectResourceName,
		leaseDurationMs: flags.leaderElectLeaseDuration,
		renewDeadlineMs: flags.leaderElectRenewDeadline,
		retryPeriodMs: flags.leaderElectRetryPeriod,
	};
	return {
		...controllerOptionsOf(flags),
		controllers: flags.controllers,
		election: flags.leaderElect ? election : undefined,
		isTakingOver: flags.takeOver === true,
		status: placeOrNone(flags.metricsBindAddress),
		logLevel: flags.verbose === true ? "debug" : "warn",
	};
}
