/** Which objects of a resource a reader asked for: selectors and namespace as one predicate. */

import { matchesFields, parseFieldSelector } from "../api/field-selector.ts";
import { matchesLabels } from "../api/label-selector.ts";
import { parseLabelSelector } from "../api/label-selector-grammar.ts";
import { apiVersionOf, type ResourceType } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { shownForm } from "./stored-form.ts";

export interface SelectionOptions {
	readonly namespace: string;
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
}

export interface Selection {
	readonly namespace: string;
	/** Whether every object of the namespace is selected. */
	readonly isEverything: boolean;
	/** The same selection gives the same text: watchers with one text share their frames. */
	readonly id: string;
	matches(object: KubeObject): boolean;
	/** The stored object as the reader's resource shows it. */
	shown(object: KubeObject): KubeObject;
}

/** @throws {ApiError} `BadRequest` for a selector that cannot be read, or a field that the kind does not have. */
export function selectionOf(type: ResourceType, options: SelectionOptions): Selection {
	const { namespace, labelSelector = "", fieldSelector = "" } = options;
	const labels = parseLabelSelector(labelSelector);
	const fields = parseFieldSelector(fieldSelector, type);
	const isEverything = labels.length === 0 && fields.length === 0;
	return {
		namespace,
		isEverything,
		id: JSON.stringify([apiVersionOf(type), namespace, labelSelector, fieldSelector]),
		matches: isEverything
			? everything
			: (object) =>
					matchesLabels(labels, object.metadata.labels) &&
					(fields.length === 0 || matchesFields(fields, type, shownForm(type, object))),
		shown: (object) => shownForm(type, object),
	};
}

function everything(): boolean {
	return true;
}
