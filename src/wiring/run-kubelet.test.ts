import { expect, test } from "vitest";
import { nodesText } from "./run-kubelet.ts";

test("what is ready is told as one would say it", () => {
	expect(nodesText(["n1"])).toBe("1 node, n1");
	expect(nodesText(["a", "b", "c"])).toBe("3 nodes, a to c");
});
