/** Times as the API writes them. */

/** RFC 3339, UTC, whole seconds: `2026-01-02T15:04:05Z`. */
export function timestamp(wallMs: number): string {
	return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
