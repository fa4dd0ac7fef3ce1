export interface Mismatch {
	/** A JSON pointer. */
	readonly at: string;
	readonly wanted: unknown;
	readonly got: unknown;
}

export function mismatches(wanted: unknown, got: unknown, at?: string): readonly Mismatch[];
export function substitute(template: unknown, values: Readonly<Record<string, unknown>>): unknown;
export function valueAt(document: unknown, pointer: string): unknown;
