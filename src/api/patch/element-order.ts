/**
 * The order of a list after a strategic merge patch.
 *
 * The patch orders the elements that it knows; elements known only to the server keep their own order, and
 * the two are interleaved by where their members stood before:
 *
 *     before [a b c d], the patch wants [d b]   ->  d b stand so; a was before d, c was after b but before d
 *     server-only [a c] and ordered [d b]       ->  [a c d b]
 */
import { isObject, ownValue } from "../../kernel/json.ts";

/** What identifies an element: its merge key's value, or the element itself in a list of scalars. */
export function elementKey(element: unknown, mergeKey: string | undefined): unknown {
	if (mergeKey === undefined) return element;
	return isObject(element) ? ownValue(element, mergeKey) : undefined;
}

/** Key to index of its first element. */
export function indexByKey(elements: readonly unknown[], mergeKey: string | undefined): Map<unknown, number> {
	const indexes = new Map<unknown, number>();
	for (const [index, element] of elements.entries()) {
		const key = elementKey(element, mergeKey);
		if (!indexes.has(key)) indexes.set(key, index);
	}
	return indexes;
}

export interface Orders {
	/** Elements, or just their keys as `{port: 80}`, in the order that the patch wants. */
	readonly patch: readonly unknown[];
	/** The list as it was before. */
	readonly server: readonly unknown[];
	readonly mergeKey: string | undefined;
}

export function arranged(elements: readonly unknown[], orders: Orders): unknown[] {
	const { mergeKey } = orders;
	const patchIndex = indexByKey(orders.patch, mergeKey);
	const serverIndex = indexByKey(orders.server, mergeKey);
	const [ordered, serverOnly]: [unknown[], unknown[]] = [[], []];
	for (const element of elements) {
		(patchIndex.has(elementKey(element, mergeKey)) ? ordered : serverOnly).push(element);
	}
	const positionIn = (index: ReadonlyMap<unknown, number>) => (element: unknown) =>
		index.get(elementKey(element, mergeKey));
	sortByPosition(ordered, positionIn(patchIndex));
	sortByPosition(serverOnly, positionIn(serverIndex));
	return interleaved(serverOnly, ordered, positionIn(serverIndex));
}

type Position = (element: unknown) => number | undefined;

function sortByPosition(elements: unknown[], position: Position): void {
	elements.sort((a, b) => (position(a) ?? 0) - (position(b) ?? 0));
}

/** Takes from `left` while its next element stood before the next of `right`; one that is new goes first. */
function interleaved(left: readonly unknown[], right: readonly unknown[], position: Position): unknown[] {
	const result: unknown[] = [];
	let taken = 0;
	for (const element of right) {
		const limit = position(element);
		while (limit !== undefined && taken < left.length && (position(left[taken]) ?? Number.POSITIVE_INFINITY) < limit) {
			result.push(left[taken]);
			taken++;
		}
		result.push(element);
	}
	return [...result, ...left.slice(taken)];
}

/** Whether `elements` appear in `order` in the same sequence. */
export function isInOrder(elements: readonly unknown[], order: readonly unknown[], mergeKey?: string): boolean {
	let found = 0;
	for (const entry of order) {
		if (found === elements.length) break;
		if (elementKey(elements[found], mergeKey) === elementKey(entry, mergeKey)) found++;
	}
	return found === elements.length;
}
