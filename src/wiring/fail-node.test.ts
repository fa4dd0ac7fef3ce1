import { afterEach, beforeEach, expect, test } from "vitest";
import { NODES } from "../api/resource-names.ts";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { setNodeFailed } from "./fail-node.ts";

let plane: TestPlane;

beforeEach(async () => {
	plane = await startTestPlane({ nodes: 2 });
});
afterEach(() => plane.stop());

const readyOf = async (name: string): Promise<string | undefined> => {
	const { status } = await plane.client.get(NODES, { namespace: "", name });
	return status?.conditions?.find(({ type }) => type === "Ready")?.status;
};

test("a simulated node falls silent and comes back", async () => {
	await setNodeFailed(plane.client, "n2", true);
	await plane.advance(70_000);
	expect([await readyOf("n1"), await readyOf("n2")]).toEqual(["True", "Unknown"]);
	await setNodeFailed(plane.client, "n2", false);
	await plane.advance(1_000);
	expect(await readyOf("n2")).toBe("True");
});

test("a node that is no simulated one, or none at all, is refused", async () => {
	await plane.client.create(NODES, "", { metadata: { name: "real" } });
	await expect(setNodeFailed(plane.client, "real", true)).rejects.toThrow("node/real is not a simulated node");
	await expect(setNodeFailed(plane.client, "n9", true)).rejects.toThrow('nodes "n9" not found');
});
