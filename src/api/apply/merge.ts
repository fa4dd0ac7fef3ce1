/** The stored value with a configuration laid over it. */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import type { ApplyShape } from "./shape.ts";
import { childShape, deduced, itemElement, itemsByElement, type ListShape } from "./shaped-value.ts";

/** @param config Already checked: no duplicates in its lists. */
export function merged(shape: ApplyShape, live: unknown, config: unknown): unknown {
	if (config === undefined) return live;
	if (live === undefined) return config;
	const known = deduced(shape, config);
	switch (known.kind) {
		case "atom":
			return config;
		case "struct":
		case "map":
			if (!isObject(config)) return live;
			return isObject(live) ? mergedMembers(known, live, config) : config;
		default:
			if (!Array.isArray(config)) return live;
			return Array.isArray(live) ? mergedItems(known, live, config) : config;
	}
}

function mergedMembers(
	shape: Extract<ApplyShape, { kind: "struct" | "map" }>,
	live: Readonly<Record<string, unknown>>,
	config: Readonly<Record<string, unknown>>,
): unknown {
	const out = { ...live };
	for (const name of Object.keys(config)) {
		setOwn(out, name, merged(childShape(shape, name), ownValue(live, name), config[name]));
	}
	return out;
}

/**
 * Items that the configuration does not name stay where they stand, before the next named item that follows them;
 * named items come in the configuration's order, new ones where it has them.
 */
function mergedItems(shape: ListShape, live: readonly unknown[], config: readonly unknown[]): unknown {
	const liveElements = live.map((item) => itemElement(shape, item));
	const configElements = config.map((item) => itemElement(shape, item));
	const liveItems = itemsByElement(shape, live);
	const named = new Set(configElements);
	const shared = configElements.filter((element) => liveItems.has(element));
	const out: unknown[] = [];
	let [liveIndex, sharedIndex] = [0, 0];
	const takeUnnamed = (until: string | undefined): void => {
		for (; liveIndex < live.length && liveElements[liveIndex] !== until; liveIndex++) {
			if (!named.has(liveElements[liveIndex] ?? "")) out.push(live[liveIndex]);
		}
	};
	for (const [index, element] of configElements.entries()) {
		takeUnnamed(shared[sharedIndex]);
		const alike = liveItems.get(element) ?? [];
		const before = alike.length === 1 ? alike[0] : undefined;
		out.push(shape.kind === "set" ? config[index] : merged(shape.of, before, config[index]));
		if (shared[sharedIndex] === element) sharedIndex++;
	}
	takeUnnamed(undefined);
	return out;
}
