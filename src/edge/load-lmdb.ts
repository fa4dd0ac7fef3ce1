/** The package is native and optional: it is loaded only where there is a data folder. */
import type { open } from "lmdb";

export async function loadLmdb(): Promise<typeof open> {
	try {
		return (await import("lmdb")).open;
	} catch (error) {
		throw new Error("the package lmdb is not installed for this platform: npm install lmdb", { cause: error });
	}
}
