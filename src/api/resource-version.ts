/**
 * Order of resourceVersions of one resource.
 *
 * They are decimal numbers of any length, and since Kubernetes 1.35 clients may compare them: a cache that is
 * as of version R has seen every write up to R. @see KEP-5504, comparable resource versions
 */
export function compareResourceVersions(a: string, b: string): number {
	if (a.length !== b.length) return a.length - b.length;
	return a < b ? -1 : a > b ? 1 : 0;
}
