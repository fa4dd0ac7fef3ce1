/** What must hold of a plane's options together, checked before anything is started. */
import { simulatedNodes } from "../kubelet/node-pool.ts";
import { selectedControllers } from "./controller-selection.ts";
import { networkRanges } from "./network-ranges.ts";
import type { PlaneOptions } from "./plane-options.ts";
import { CONTROLLER_NAMES } from "./start-controllers.ts";
import { VERSION } from "./version.ts";

/** @throws {RangeError} When options cannot go together; the message names the flag. */
export function checkOptions(options: Omit<PlaneOptions, "cacheFolder">): void {
	networkRanges(options);
	const nodes = simulatedNodes({ ...options, kubeletVersion: VERSION.api.gitVersion });
	const { asNode } = options;
	if (asNode !== "" && !nodes.some(({ name }) => name === asNode)) {
		throw new RangeError(
			`--as-node ${asNode}: no such node; there are ${nodes.length}: ${nodes
				.map(({ name }) => name)
				.slice(0, 3)
				.join(", ")} ...`,
		);
	}
	selectedControllers(CONTROLLER_NAMES, options.controllers);
}
