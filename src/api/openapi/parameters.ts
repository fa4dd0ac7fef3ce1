/** The query and path parameters of operations, with the names that clients look for. */
export type Parameter = Readonly<Record<string, unknown>>;

function query(name: string, type: "string" | "integer" | "boolean", description: string): Parameter {
	return { name, in: "query", description, schema: { type, uniqueItems: true } };
}

function inPath(name: string, description: string): Parameter {
	return { name, in: "path", required: true, description, schema: { type: "string", uniqueItems: true } };
}

export const NAME: Parameter = inPath("name", "The name of the object.");
export const NAMESPACE: Parameter = inPath("namespace", "The namespace of the object.");
export const PROXY_PATH: Parameter = inPath("path", "The rest of the path, passed on to the target.");

const DRY_RUN = query("dryRun", "string", "`All`: do everything but store the result.");

/** kubectl takes `fieldValidation` and `dryRun` on a patch as the sign that the server checks fields itself. */
export const WRITE_PARAMETERS: readonly Parameter[] = [
	DRY_RUN,
	query("fieldManager", "string", "Who is changing the object: the owner of the fields that change."),
	query("fieldValidation", "string", "What to do about unknown or repeated fields: Ignore, Warn or Strict."),
];

export const FORCE: Parameter = query("force", "boolean", "Server-side apply takes over fields that others own.");

export const DELETE_PARAMETERS: readonly Parameter[] = [
	DRY_RUN,
	query("gracePeriodSeconds", "integer", "Seconds before the object is removed; 0 means at once."),
	query("orphanDependents", "boolean", "Deprecated: use propagationPolicy."),
	query("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
];

export const LIST_PARAMETERS: readonly Parameter[] = [
	query("allowWatchBookmarks", "boolean", "Send bookmarks from time to time."),
	query("continue", "string", "Where the next page of a list begins, from the page before."),
	query("fieldSelector", "string", "Only objects with these field values."),
	query("labelSelector", "string", "Only objects with these labels."),
	query("limit", "integer", "At most so many objects in one answer."),
	query("resourceVersion", "string", "How new the answer must be, or where a watch starts."),
	query("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
	query("sendInitialEvents", "boolean", "Begin a watch with the objects that exist."),
	query("timeoutSeconds", "integer", "Seconds after which the answer ends."),
	query("watch", "boolean", "Stream changes instead of a list."),
];

export const PRETTY: Parameter = query("pretty", "string", "Indent the answer.");
