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
	simulatedNodes({ ...options, kubeletVersion: VERSION.api.gitVersion });
	selectedControllers(CONTROLLER_NAMES, options.controllers);
}
