import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { ObjectMeta, OwnerReference, StringMap } from "../../api/types/meta.ts";
import { service } from "../../testing/builders.ts";
import { endpointFor, numberedPod, stored, web } from "../../testing/slice-worlds.ts";
import { isOwnedBy, isPlaceholder, labelsDiffer, newSlice, sliceLabels, withTriggerTime } from "./slice-metadata.ts";

const NAME = "kubernetes.io/service-name";
const MANAGER = "endpointslice.kubernetes.io/managed-by";
const HEADLESS = "service.kubernetes.io/headless";
const own = { [NAME]: "web", [MANAGER]: "endpointslice-controller.k8s.io" };
const labelled = (labels: StringMap, spec: Partial<Service["spec"]> = {}): Service => service("web", spec, { labels });
const draft = newSlice(web, "IPv4", { endpoints: [], ports: [] });

function slice(metadata: Partial<ObjectMeta>, more: Partial<EndpointSlice> = {}): EndpointSlice {
	const made = stored(draft, "web-a");
	return { ...made, ...more, metadata: { ...made.metadata, ...metadata } };
}

describe("a new slice", () => {
	test("is named after the Service and owned by it alone", () => {
		expect(draft.metadata).toEqual({
			generateName: "web-",
			namespace: "default",
			labels: own,
			ownerReferences: [
				{
					apiVersion: "v1",
					kind: "Service",
					name: "web",
					uid: "uid-web",
					controller: true,
					blockOwnerDeletion: true,
				},
			],
		});
	});

	test("of a Service with the longest name leaves it to the server to cut it", () => {
		const name = "a".repeat(63);
		expect(newSlice(service(name), "IPv6", { endpoints: [], ports: [] }).metadata.generateName).toBe(`${name}-`);
	});

	test.each<[string, Service, StringMap]>([
		["the Service's own", labelled({ team: "red", tier: "" }), { ...own, team: "red", tier: "" }],
		["not the Service's reserved ones", labelled({ [NAME]: "x", [MANAGER]: "y", [HEADLESS]: "z" }), own],
		["one for headless Services", labelled({}, { clusterIP: "None" }), { ...own, [HEADLESS]: "" }],
		["the same for those without a cluster IP yet", labelled({}, { clusterIP: "" }), { ...own, [HEADLESS]: "" }],
		[
			"the headless one empty, whatever the Service says",
			labelled({ [HEADLESS]: "no" }, { clusterIP: "None" }),
			{ ...own, [HEADLESS]: "" },
		],
	])("has as labels %s", (_, of, labels) => {
		expect(sliceLabels(of)).toEqual(labels);
	});
});

describe("labels of a stored slice", () => {
	test.each<[string, StringMap | undefined, Service, boolean]>([
		["none at all and none of the Service are equal", undefined, web, false],
		["the Service's are equal", { ...own, team: "red" }, labelled({ team: "red" }), false],
		["another value differs", { ...own, team: "blue" }, labelled({ team: "red" }), true],
		["one that the Service does not have differs", { ...own, extra: "x" }, web, true],
		["one that is missing differs", own, labelled({ team: "" }), true],
		["an edited reserved one does not differ", { ...own, [MANAGER]: "me" }, web, false],
		["a missing headless one does not differ", own, service("web", { clusterIP: "None" }), false],
		["reserved ones of the Service do not differ", own, labelled({ [HEADLESS]: "x" }), false],
	])("%s", (_, labels, of, differ) => {
		const { labels: _labels, ...metadata } = slice({}).metadata;
		const of1 = { ...slice({}), metadata: { ...metadata, ...(labels === undefined ? {} : { labels }) } };
		expect(labelsDiffer(of1, of)).toBe(differ);
	});
});

describe("a slice is the Service's", () => {
	const owner: OwnerReference = { apiVersion: "v1", kind: "Service", name: "web", uid: "uid-web" };
	test.each<[string, readonly OwnerReference[], boolean]>([
		["when an owner has its uid", [owner], true],
		["when a second owner has it", [{ ...owner, uid: "x" }, owner], true],
		["even if the owner is no controller", [{ ...owner, controller: false }], true],
		["even if the owner's name is another", [{ ...owner, name: "db" }], true],
		["but not with another uid", [{ ...owner, uid: "x" }], false],
		["but not with another kind", [{ ...owner, kind: "Pod" }], false],
		["but not with another version", [{ ...owner, apiVersion: "apps/v1" }], false],
		["but not without owners", [], false],
	])("%s", (_, ownerReferences, isOwn) => {
		expect(isOwnedBy(slice({ ownerReferences }), web)).toBe(isOwn);
	});
});

describe("a lone slice without endpoints is the placeholder already", () => {
	const endpoints = [endpointFor(numberedPod(0))];
	test.each<[string, EndpointSlice, boolean]>([
		["with lists that are null", slice({}, { endpoints: null, ports: null }), true],
		["with lists that are empty", slice({}, { endpoints: [], ports: [] }), true],
		["whatever its name, annotations and owners", slice({ annotations: { a: "b" }, ownerReferences: [] }), true],
		["with an empty label more", slice({ labels: { ...own, [HEADLESS]: "" } }), true],
		["but not with another label", slice({ labels: { ...own, extra: "x" } }), false],
		["but not without a label", slice({ labels: { [NAME]: "web" } }), false],
		["but not in another namespace", slice({ namespace: "other" }), false],
		["but not of another family", slice({}, { addressType: "IPv6" }), false],
		["but not with ports", slice({}, { ports: [{ name: "http", protocol: "TCP", port: 80 }] }), false],
		["but not with endpoints", slice({}, { endpoints }), false],
	])("%s", (_, existing, isSame) => {
		expect(isPlaceholder(existing, draft)).toBe(isSame);
	});
});

test("the trigger time is the one annotation that is written or taken away", () => {
	const Time = "endpoints.kubernetes.io/last-change-trigger-time";
	const old = slice({ annotations: { note: "mine", [Time]: "old" } });
	expect(withTriggerTime(old, "now").metadata.annotations).toEqual({ note: "mine", [Time]: "now" });
	expect(withTriggerTime(old, undefined).metadata.annotations).toEqual({ note: "mine" });
});
