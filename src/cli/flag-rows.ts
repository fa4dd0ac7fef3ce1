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

type Flag = readonly [flags: string, description: string];

const USUAL = "default: the variable KUBECONFIG, ~/.kube/config";
/** Of what works inside a Pod, too. */
export const CLUSTER_KUBECONFIG: Flag = [
	"--kubeconfig <path>",
	`kubeconfig of the cluster; ${USUAL}, then the Pod's own`,
];
export const PLANE_KUBECONFIG: Flag = ["--kubeconfig <path>", `kubeconfig of the plane; ${USUAL}`];
export const CONTEXT: Flag = ["--context <name>", "context in the kubeconfig"];
