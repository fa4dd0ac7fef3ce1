import { describe, expect, test } from "vitest";
import { resourceOfKind } from "../api/resource-table.ts";
import { FAULTS, planted, withHealthyPlane } from "../testing/explained-planes.ts";
import { readCluster } from "../wiring/read-snapshot.ts";
import { type Explanation, explainService } from "./explain.ts";
import { type Fix, inTurn, kubectl, patchFix } from "./fix.ts";

/** Where the right value is known, so that the fix is data. */
const FIXED = [
	"selector-matches-no-pods",
	"named-port-missing-in-pod",
	"slice-without-service-name-label",
	"slice-with-wrong-service-name",
	"port-name-mismatch",
	"endpoints-not-mirrored",
	"no-local-endpoint",
	"manual-endpoints-not-ready",
	"headless-label",
];

describe("the fix of the cause, applied to the plane, takes the cause away", () => {
	const faults = FAULTS.filter(({ name }) => FIXED.includes(name));

	test.each(faults)("$name", async (fault) => {
		await withHealthyPlane(7, async (plane) => {
			const name = await planted(plane, fault);
			const explain = async (): Promise<Explanation> =>
				explainService(await readCluster(plane.client), { namespace: "default", name });
			const { cause } = await explain();
			expect(cause?.name).toBe(fault.name);
			const { target, patch, patchType: type } = (cause as { readonly fix: Required<Fix> }).fix;
			const resource = resourceOfKind(target.kind === "EndpointSlice" ? "discovery.k8s.io/v1" : "v1", target.kind);
			if (resource === undefined) throw new Error(`no resource of kind ${target.kind}`);
			await plane.client.patch(
				resource,
				{ namespace: target.namespace ?? "", name: target.name },
				{ type, body: patch },
			);
			await plane.advance(10_000);
			expect((await explain()).cause).toBeUndefined();
		});
	});
});

describe("commands", () => {
	test("of several steps stop at the first that fails", () => {
		const steps = [kubectl(["delete", "endpoints", "a b"]), kubectl(["delete", "endpointslice", "x"])];
		expect(inTurn(steps, "both")).toEqual({
			advice: "both",
			command: "kubectl delete endpoints 'a b' && kubectl delete endpointslice x",
		});
	});

	test("leave nothing of a name to the shell", () => {
		const { command } = kubectl(["-n", "a b", "delete", "pod", "x'; rm -rf $HOME #"]);
		expect(command).toBe(`kubectl -n 'a b' delete pod 'x'\\''; rm -rf $HOME #'`);
	});

	test("of a patch are the patch", () => {
		const fix = patchFix(
			{ kind: "Service", namespace: "default", name: "web" },
			{ spec: { selector: { app: "it's" } } },
		);
		expect(fix.command).toBe(
			`kubectl -n default patch service web --type=merge -p '{"spec":{"selector":{"app":"it'\\''s"}}}'`,
		);
	});
});
