/** What became of applying a patch. The input is never changed; parts that stay are shared with it. */
export type PatchResult = { readonly kind: "ok"; readonly value: Readonly<Record<string, unknown>> } | BadPatch;

export interface BadPatch {
	readonly kind: "bad";
	/** 400: the patch is malformed; 413: it is too big; 422: it does not fit the object; 500: as a real server has it. */
	readonly code: 400 | 413 | 422 | 500;
	readonly message: string;
}

export function badPatch(code: BadPatch["code"], message: string): BadPatch {
	return { kind: "bad", code, message };
}
