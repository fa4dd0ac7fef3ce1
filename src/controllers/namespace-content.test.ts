import { expect, test } from "vitest";
import { CONFIG_MAPS } from "../api/resource-names.ts";
import { NamespaceContent } from "./namespace-content.ts";

test("failures to delete are told, and the time of a condition is that of its last turn", () => {
	const failing = new NamespaceContent();
	failing.addFailure("b failed");
	failing.addFailure("a failed");
	const first = failing.conditions([], "t1");
	expect(first.find(({ type }) => type === "NamespaceDeletionContentFailure")).toEqual({
		type: "NamespaceDeletionContentFailure",
		status: "True",
		lastTransitionTime: "t1",
		reason: "ContentDeletionFailed",
		message: "Failed to delete all resource types, 2 remaining: a failed, b failed",
	});
	expect(failing.conditions(first, "t2")).toBe(first);
	const left = new NamespaceContent();
	left.add(CONFIG_MAPS, [
		{
			apiVersion: "v1",
			kind: "ConfigMap",
			metadata: { name: "a", uid: "a", resourceVersion: "1", creationTimestamp: "t0" },
		},
	]);
	const second = left.conditions([{ type: "Other", status: "True" }, ...first], "t2");
	expect(second.map(({ type, status, lastTransitionTime = "" }) => `${type} ${status} ${lastTransitionTime}`)).toEqual([
		"Other True ",
		"NamespaceDeletionDiscoveryFailure False t1",
		"NamespaceDeletionGroupVersionParsingFailure False t1",
		"NamespaceDeletionContentFailure False t2",
		"NamespaceContentRemaining True t2",
		"NamespaceFinalizersRemaining False t1",
	]);
});
