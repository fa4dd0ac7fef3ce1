/**
 * Plain data, as JSON knows it.
 *
 * Keys come from strangers: `__proto__` and `constructor` are data like any other. Reading such a key
 * with `in` or `object[key]` would find the prototype, writing it would change the prototype, so
 * code that handles foreign keys goes through `ownValue` and `setOwn`.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
	readonly [key: string]: JsonValue | undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object's own value under `key`, never the prototype's. */
export function ownValue(object: object, key: string): unknown {
	return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Sets an own property, also for `__proto__`, which plain assignment would take for the prototype. */
export function setOwn(target: object, key: string, value: unknown): void {
	if (key === "__proto__") {
		Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
	} else {
		(target as Record<string, unknown>)[key] = value;
	}
}

/** The object without these keys. */
export function without<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): Omit<T, K> {
	const copy = { ...object };
	for (const key of keys) delete copy[key];
	return copy;
}

/** Equality of plain data: key order does not matter, a key with value undefined equals a missing one. */
export function deepEqual(a: unknown, b: unknown): boolean {
	if (a === b) return true;
	if (Array.isArray(a)) {
		return Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
	}
	if (!isObject(a) || !isObject(b)) return false;
	for (const key of Object.keys(a)) {
		if (!deepEqual(a[key], ownValue(b, key))) return false;
	}
	return Object.keys(b).every((key) => Object.hasOwn(a, key) || b[key] === undefined);
}

/** Freezes plain data all the way down and returns it. What is frozen already is taken as deeply frozen. */
export function deepFreeze<T>(value: T): T {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
	for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key]);
	return Object.freeze(value);
}
