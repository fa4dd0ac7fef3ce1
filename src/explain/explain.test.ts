import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import { CONTAINER, good, MINE, manual, OWN, pod, slice, web, workload } from "../testing/explained-objects.ts";
import { EXPLAINED_WORLDS, worldOf } from "../testing/explained-worlds.ts";
import type { ClientOrigin } from "./client-place.ts";
import { CODES } from "./codes.ts";
import { explainService } from "./explain.ts";
import { keptFields } from "./kept-fields.ts";
import { type ClusterSnapshot, EMPTY_SNAPSHOT } from "./snapshot.ts";

/** As it is when it was read from a file: with the fields that are kept, and no others. */
function read(snapshot: ClusterSnapshot): ClusterSnapshot {
	const kept = Object.entries(snapshot).map(([name, value]) => [
		name,
		Array.isArray(value)
			? value.map((each) =>
					typeof each === "string" ? each : keptFields(each as KubeObject & Record<string, unknown>),
				)
			: value,
	]);
	return Object.fromEntries(kept);
}

function names(snapshot: Partial<ClusterSnapshot>, from?: ClientOrigin): readonly string[] {
	const target = { namespace: "default", name: "web", ...(from === undefined ? {} : { from }) };
	return explainService(read(worldOf(snapshot)), target).findings.map(({ name }) => name);
}

test("every code has a world, and every world a code", () => {
	expect(Object.keys(EXPLAINED_WORLDS).sort()).toEqual(CODES.map(({ name }) => name).sort());
});

describe.each(CODES)("$code $name", ({ name }) => {
	const { fires = {}, near = {}, from } = EXPLAINED_WORLDS[name] ?? {};

	test("is found where it is", () => {
		expect(names(fires, from)).toContain(name);
	});

	test("is not found near by", () => {
		expect(names(near, from)).not.toContain(name);
	});
});

describe("explainService()", () => {
	test("finds nothing above info in a Service that is well", () => {
		const { cause, findings } = explainService({ ...EMPTY_SNAPSHOT, ...good }, { namespace: "default", name: "web" });
		expect([cause, findings]).toEqual([undefined, []]);
	});

	test("says nothing of what was not looked at", () => {
		const missing = ["Pod", "EndpointSlice", "Endpoints", "Node"];
		expect(names({ services: [web()], missing })).toEqual([]);
		expect(names({ services: [manual()], missing })).toEqual([]);
	});

	test("tells of a hand-made slice beside a selector: two managers, and port names that do not meet", () => {
		const byHand = slice({ name: "mine", labels: OWN, port: "other" });
		expect(names({ ...good, slices: [slice(), byHand] })).toEqual(["port-name-mismatch", "slices-of-two-managers"]);
		expect(names({ ...good, slices: [slice(), MINE] })).toEqual(["slices-of-two-managers"]);
	});

	test.each([
		[
			"waits",
			{ state: { waiting: { reason: "CrashLoopBackOff" } }, restartCount: 3 },
			"container c waits: CrashLoopBackOff, 3 restarts",
		],
		["has ended", { state: { terminated: { exitCode: 1, reason: "Error" } } }, "container c ended with 1 (Error)"],
		["starts", { started: false }, "the startupProbe of container c (tcpSocket :8080) has not succeeded"],
		["is probed", { started: true }, "see the readinessProbe of container c (httpGet :http/)"],
	])("says of a container that %s why it is not ready", (_rule, status, says) => {
		const probes = { startupProbe: { tcpSocket: { port: 8080 } }, readinessProbe: { httpGet: { port: "http" } } };
		const unready = pod({
			ready: false,
			spec: { containers: [{ ...CONTAINER, ...probes }] },
			status: { containerStatuses: [{ name: "c", ready: false, restartCount: 0, image: "", imageID: "", ...status }] },
		});
		const { cause } = explainService(worldOf({ ...good, pods: [unready] }), { namespace: "default", name: "web" });
		expect(cause?.text).toContain(says);
	});

	test.each([
		[{ app: "wbe" }, "The nearest is Pod/web-1: it has app=wbe, not app=web."],
		[{ name: "web" }, "The nearest is Pod/web-1: it has name=web, not app=web."],
		[{ other: "x" }, "The nearest is Pod/web-1: it lacks app=web."],
	])("names the Pod with labels %j, and what sets it apart", (labels, text) => {
		const found = explainService(
			{ ...EMPTY_SNAPSHOT, services: [web()], pods: [pod({ labels })] },
			{ namespace: "default", name: "web" },
		);
		expect(found.cause?.text).toContain(text);
	});

	test("says that labels are on the workload and not on its template", () => {
		const workloads = [workload("Deployment", { app: "web" }, { app: "other" })];
		const found = explainService(
			{ ...EMPTY_SNAPSHOT, services: [web()], workloads },
			{ namespace: "default", name: "web" },
		);
		expect(found.cause?.text).toContain("Deployment/web has them itself; only labels of its template count.");
	});

	test.each([
		[
			{ "service.kubernetes.io/topology-mode": "Auto" },
			"metadata.annotations[service.kubernetes.io/topology-mode]",
			"Auto",
		],
		[{ "service.kubernetes.io/topology-mode": "AUTO" }, "spec.trafficDistribution", "PreferClose"],
	])("with annotations %j names %s as what asks for hints", (annotations, field, value) => {
		const service = web({ trafficDistribution: "PreferClose" });
		const asking = { ...service, metadata: { ...service.metadata, annotations } };
		const { findings } = explainService(
			{ ...EMPTY_SNAPSHOT, ...good, services: [asking] },
			{ namespace: "default", name: "web" },
		);
		const found = findings.find(({ name }) => name === "hints-not-assigned");
		expect(found?.evidence).toEqual([{ object: "Service/web", field, value }]);
	});
});
