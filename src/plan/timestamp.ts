/** RFC 3339, UTC, whole seconds: every time that a planner writes. */
export function timestamp(wallMs: number): string {
	return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
