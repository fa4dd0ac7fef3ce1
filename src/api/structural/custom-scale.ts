/** The `scale` subresource of a custom resource: its definition says by paths where the numbers are. */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import type { ScaleRules } from "../resource.ts";
import { internalError } from "../status.ts";
import type { ScalePaths } from "../types/apiextensions.ts";
import type { Scale } from "../types/autoscaling.ts";
import type { KubeObject } from "../types/meta.ts";
import { fieldNames, findAll, type JsonPath, parseJsonPath } from "./json-path.ts";

export function scaleRulesOf({ specReplicasPath, statusReplicasPath, labelSelectorPath = "" }: ScalePaths): ScaleRules {
	const wanted = pathOf(specReplicasPath);
	const found = pathOf(statusReplicasPath);
	const selector = labelSelectorPath === "" ? undefined : pathOf(labelSelectorPath);
	return {
		read(object): Scale {
			const [replicas] = findAll(wanted, object);
			if (typeof replicas !== "number") {
				throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`);
			}
			const [status] = findAll(found, object);
			const [labels] = selector === undefined ? [] : findAll(selector, object);
			const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
			return {
				kind: "Scale",
				apiVersion: "autoscaling/v1",
				metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
				spec: replicas === 0 ? {} : { replicas },
				status: {
					replicas: typeof status === "number" ? status : 0,
					...(typeof labels === "string" && labels !== "" ? { selector: labels } : {}),
				},
			};
		},
		write: (object, scale) => withValue(object, fieldNames(wanted) ?? [], scale.spec?.replicas ?? 0) as KubeObject,
	};
}

function pathOf(text: string): JsonPath {
	const parsed = parseJsonPath(text);
	return parsed.kind === "path" ? parsed.path : { steps: [] };
}

/** A copy with the value under these names; objects on the way are made when they are missing. */
function withValue(target: unknown, names: readonly string[], value: unknown): unknown {
	const [name, ...rest] = names;
	if (name === undefined) return value;
	const copy: Record<string, unknown> = isObject(target) ? { ...target } : {};
	setOwn(copy, name, withValue(isObject(target) ? ownValue(target, name) : undefined, rest, value));
	return copy;
}
