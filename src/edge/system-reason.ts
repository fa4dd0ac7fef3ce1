/** What the operating system says of a file or a host, in words for people. */
const WORDS: Readonly<Record<string, string>> = {
	EACCES: "not allowed",
	EBUSY: "it is in use",
	EEXIST: "it is there already",
	EISDIR: "it is a folder",
	ENOENT: "no such file or folder",
	ENOSPC: "the disk is full",
	ENOTDIR: "a part of the path is no folder",
	EPERM: "not allowed",
	EROFS: "the disk is read-only",
};

export function systemCode(error: unknown): string {
	return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function systemReason(error: unknown): string {
	return WORDS[systemCode(error)] ?? (error instanceof Error ? error.message : String(error));
}
