/** What the API answered to a step. */

import type { TestResponse } from "../testing/test-server.ts";
import { TestWatch, type TestWatchEvent } from "../testing/test-watch.ts";

export interface Reply {
	readonly code: number;
	/** Of the body; of a watch, none. */
	readonly body: Readonly<Record<string, unknown>>;
	/** Texts of Warning headers. */
	readonly warnings: readonly string[];
	/** The watch that the request opened. */
	readonly watch?: TestWatch;
}

export function replyOf(answer: TestResponse | TestWatch): Reply {
	if (answer instanceof TestWatch) return { code: 200, body: {}, warnings: warningsIn(answer.headers), watch: answer };
	return { code: answer.status, body: answer.json, warnings: warningsIn(answer.headers) };
}

/** The first event of a watch; of another answer, what its body would be as an event. */
export function firstEvent({ code, body, watch }: Reply): TestWatchEvent | undefined {
	if (watch !== undefined) return watch.events[0];
	return { type: code === 200 ? "" : "ERROR", object: { metadata: {}, ...body } };
}

export function messageOf({ body }: Reply): string {
	return typeof body["message"] === "string" ? body["message"] : "";
}

/** `299 - "text"` each; RFC 7234 has them in one header or in many. */
function warningsIn(headers: TestResponse["headers"]): readonly string[] {
	const values = [headers["warning"] ?? []].flat();
	return values.flatMap((value) =>
		[...value.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1")),
	);
}
