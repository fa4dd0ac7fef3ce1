import { expect, test } from "vitest";
import { nameHash } from "./name-hash.ts";

test.each([
	["ns1/svc1/tcp/p80", "ULMVA6XW"],
	["ns4/svc4/tcp/p80", "LAUZTJTB"],
	["default/kubernetes/tcp/https", "2QRHZV4L"],
])("the hash of %s is the one that kube-proxy gives: %s", (text, hash) => {
	expect(nameHash(text)).toBe(hash);
});
