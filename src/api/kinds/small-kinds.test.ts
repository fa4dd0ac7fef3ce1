import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { Lease } from "../types/coordination.ts";
import type { Event, Namespace, Node } from "../types/core.ts";
import type { IPAddress } from "../types/networking.ts";
import { EVENT } from "./event.ts";
import { IP_ADDRESS } from "./ip-address.ts";
import { LEASE } from "./lease.ts";
import { NAMESPACE } from "./namespace.ts";
import { NODE } from "./node.ts";

const CLUSTER_METADATA = { ...metadataOf("x"), namespace: "" };

describe("Namespace", () => {
	const namespace = (parts: Partial<Namespace>): Namespace => ({
		apiVersion: "v1",
		kind: "Namespace",
		metadata: metadataOf("x"),
		...parts,
	});

	test("is created active, labelled with its name and held by a finalizer", () => {
		expect(NAMESPACE.prepareCreate(namespace({ status: { phase: "Terminating" } }), { nowMs: 0 })).toMatchObject({
			metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
			spec: { finalizers: ["kubernetes"] },
			status: { phase: "Active" },
		});
	});

	test("the label cannot be written over, finalizers and status are not for updates", () => {
		const next = namespace({
			metadata: metadataOf("x", { labels: { "kubernetes.io/metadata.name": "y", a: "b" } }),
			spec: {},
		});
		const labelled = NAMESPACE.withDefaults(next);
		expect(labelled.metadata.labels).toEqual({ "kubernetes.io/metadata.name": "x", a: "b" });
		const stored = namespace({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
		expect(NAMESPACE.prepareUpdate(next, stored)).toMatchObject({ spec: stored.spec, status: stored.status });
	});

	test("its phase tells whether it is going", () => {
		const next = namespace({ status: { phase: "Terminating" } });
		expect(errorTexts(NAMESPACE.validateStatusUpdate?.(next, next) ?? [])).toEqual([
			`status.Phase: Invalid value: "Terminating": may only be 'Active' if \`deletionTimestamp\` is empty`,
		]);
	});
});

describe("Node", () => {
	const node = (parts: Partial<Node>): Node =>
		NODE.withDefaults({ apiVersion: "v1", kind: "Node", metadata: CLUSTER_METADATA, ...parts } as Node) as Node;

	test("podCIDR is the first of podCIDRs, allocatable is what there is", () => {
		expect(node({ spec: { podCIDR: "10.244.0.0/24" } }).spec?.podCIDRs).toEqual(["10.244.0.0/24"]);
		expect(node({ spec: { podCIDRs: ["10.244.0.0/24"] } }).spec?.podCIDR).toBe("10.244.0.0/24");
		expect(node({ status: { capacity: { cpu: "2" } } }).status?.allocatable).toEqual({ cpu: "2" });
	});

	test("keeps the status it is created with", () => {
		const made = node({ status: { conditions: [] } });
		expect(NODE.prepareCreate(made, { nowMs: 0 })).toBe(made);
	});

	test("taints and ranges are checked", () => {
		const taint = { key: "a", effect: "NoExecute" } as const;
		expect(
			errorTexts(NODE.validate(node({ spec: { taints: [taint, taint], podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } }))),
		).toEqual([
			'spec.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoExecute","TimeAdded":null}: taints must be unique by key and effect pair',
			'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
		]);
	});

	test("range and provider stay once they are set", () => {
		const stored = node({ spec: { podCIDRs: ["10.0.0.0/24"], providerID: "a" } });
		expect(NODE.validateUpdate(stored, node({}))).toEqual([]);
		expect(errorTexts(NODE.validateUpdate(node({}), stored))).toEqual([
			'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
			'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
		]);
	});
});

test("a Lease lasts longer than nothing and counts from zero", () => {
	const lease: Lease = {
		apiVersion: "c/v1",
		kind: "Lease",
		metadata: metadataOf("x"),
		spec: { leaseDurationSeconds: 0, leaseTransitions: -1 },
	};
	expect(errorTexts(LEASE.validate(lease))).toEqual([
		"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
		"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
	]);
});

test("an IPAddress is named by its address and belongs to something", () => {
	expect(IP_ADDRESS.nameProblems("10.96.0.1", false)).toEqual([]);
	expect(IP_ADDRESS.nameProblems("FD00::1", false)).toEqual(['must be in canonical form ("fd00::1")']);
	const address: IPAddress = { apiVersion: "n/v1", kind: "IPAddress", metadata: CLUSTER_METADATA, spec: {} };
	expect(errorTexts(IP_ADDRESS.validate(address))).toEqual(["spec.parentRef: Required value"]);
});

describe("Event", () => {
	const event = (parts: Partial<Event>): Event =>
		EVENT.withDefaults({
			apiVersion: "v1",
			kind: "Event",
			metadata: metadataOf("x"),
			involvedObject: {},
			...parts,
		} as Event) as Event;

	test.each<{ rule: string; parts: Partial<Event>; errors: readonly string[] }>([
		{ rule: "about a cluster-scoped object, in default", parts: {}, errors: [] },
		{ rule: "about an object of its namespace", parts: { involvedObject: { namespace: "default" } }, errors: [] },
		{
			rule: "about an object elsewhere",
			parts: { involvedObject: { namespace: "other" } },
			errors: ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
		},
		{
			rule: "of the new form, with nothing in it",
			parts: { eventTime: "2026-01-01T00:00:00.000000Z", reportingComponent: "a", reason: "r".repeat(129) },
			errors: [
				"reportingInstance: Required value",
				"action: Required value",
				'reason: Invalid value: "": can have at most 128 characters',
			],
		},
	])("$rule", ({ parts, errors }) => {
		expect(errorTexts(EVENT.validate(event(parts)))).toEqual(errors);
	});

	test("can be selected by what it is about and who said it", () => {
		expect(EVENT.fields(event({ involvedObject: { kind: "Pod" }, reportingComponent: "c" }))).toMatchObject({
			"involvedObject.kind": "Pod",
			"involvedObject.name": "",
			source: "c",
		});
	});
});
