/** Plans of mirrored slices as text, for people and golden files. */
import { renderedWrites } from "../endpointslice/render.ts";
import type { MirrorPlan } from "./plan-mirror.ts";

/**
 * One line per write, and one for addresses that were left out. An empty plan is an empty text.
 *
 * @param shownMax Of a longer list of endpoints only the first, the last and their number are shown. Default: all are.
 */
export function renderMirrorPlan(plan: MirrorPlan, shownMax: number = Number.POSITIVE_INFINITY): string {
	const { invalid, skipped } = plan.counts;
	const left = skipped === 0 ? [] : [`skip ${skipped} addresses, ${invalid} of them not readable`];
	return [...renderedWrites(plan, shownMax), ...left].join("\n");
}
