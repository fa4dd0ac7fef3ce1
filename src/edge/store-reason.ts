/** What LMDB and the system say of a store, in words that tell what to do. */
import { statfsSync } from "node:fs";

export const NO_SPACE = "no space is left there; free some, and try again";

/** Less than this, and a write that failed has failed for want of space. */
const FREE_BYTES_MIN = 1024 * 1024;

export function storeReason(text: string, folder: string): string {
	if (isNoSpace(text, folder)) return NO_SPACE;
	if (/EROFS|EACCES|Permission denied|Read-only|not allowed/i.test(text)) return "it cannot be written to by this user";
	return text;
}

export function isNoSpace(text: string, folder: string): boolean {
	if (/MDB_MAP_FULL|No space left|disk is full/i.test(text)) return true;
	// Also of a disk that is full.
	return /Input\/output/i.test(text) && isFull(folder);
}

function isFull(folder: string): boolean {
	try {
		const { bavail, bsize } = statfsSync(folder);
		return bavail * bsize < FREE_BYTES_MIN;
	} catch {
		return false;
	}
}
