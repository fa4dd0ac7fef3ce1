/**
 * A small world for each code in which `explain` finds it, and one as near as can be in which it must not: the tests of
 * the codes, and the examples of their pages in docs/codes.
 */
import { type ClusterSnapshot, EMPTY_SNAPSHOT } from "../explain/snapshot.ts";
import { ENDPOINT_WORLDS } from "./explained-endpoint-worlds.ts";
import type { ExplainedWorld } from "./explained-objects.ts";
import { REACH_WORLDS } from "./explained-reach-worlds.ts";
import { TRAFFIC_WORLDS } from "./explained-traffic-worlds.ts";

/** By the code's name. */
export const EXPLAINED_WORLDS: Readonly<Record<string, ExplainedWorld>> = {
	...ENDPOINT_WORLDS,
	...TRAFFIC_WORLDS,
	...REACH_WORLDS,
};

/** The world as a whole snapshot. */
export function worldOf(world: Partial<ClusterSnapshot>): ClusterSnapshot {
	return { ...EMPTY_SNAPSHOT, ...world };
}
