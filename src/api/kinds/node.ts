/** Node: where pods run. Its status is the kubelet's, also at creation. */

import { deepEqual } from "../../kernel/json.ts";
import { repeatedIndexes } from "../../kernel/order.ts";
import { age } from "../age.ts";
import { duplicate, errorsOf, type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { parseLenientCIDR } from "../ip.ts";
import { validateLegacyCIDR } from "../ip-validation.ts";
import { invalids } from "../metadata-validation.ts";
import { dns1123SubdomainName, labelValueProblems, qualifiedNameProblems } from "../names.ts";
import { ALL_VERBS, type Column, defineResource, type ResourceType, STATUS_SUBRESOURCE } from "../resource.ts";
import type { Node, Taint } from "../types/core.ts";
import { AGE_COLUMN, column, NAME_COLUMN, orNone, wideColumn } from "./cells.ts";

export const NODE: ResourceType = defineResource<Node>({
	group: "",
	version: "v1",
	kind: "Node",
	plural: "nodes",
	singular: "node",
	namespaced: false,
	shortNames: ["no"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [STATUS_SUBRESOURCE],
	storagePrefix: "/registry/minions/",
	schema: "core.Node",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: ["spec.unschedulable"],
	table: { columns: nodeColumns(), cells: nodeCells },
	withDefaults,
	prepareCreate: (node) => node,
	prepareUpdate: (next, stored) => ({ ...next, status: stored.status ?? {} }),
	prepareStatusUpdate: (next, stored) => ({ ...next, spec: stored.spec ?? {} }),
	validate,
	validateUpdate,
	validateStatusUpdate: validateUpdate,
	warnings: () => [],
	fields: (node) => ({ "spec.unschedulable": String(node.spec?.unschedulable ?? false) }),
});

/** What a real server always prints, known or not. */
const NO_NODE_INFO = {
	machineID: "",
	systemUUID: "",
	bootID: "",
	kernelVersion: "",
	osImage: "",
	containerRuntimeVersion: "",
	kubeletVersion: "",
	kubeProxyVersion: "",
	operatingSystem: "",
	architecture: "",
};

function withDefaults(node: Node): Node {
	const { capacity, allocatable } = node.status ?? {};
	return {
		...node,
		spec: withMirroredPodCIDR(node.spec ?? {}),
		status: {
			...node.status,
			...(allocatable === undefined && capacity !== undefined ? { allocatable: capacity } : {}),
			daemonEndpoints: { kubeletEndpoint: { Port: node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0 } },
			nodeInfo: { ...NO_NODE_INFO, ...node.status?.nodeInfo },
		},
	};
}

/** `podCIDR` is `podCIDRs[0]`. When they differ, the writer knew only the older, single field. */
function withMirroredPodCIDR(spec: NonNullable<Node["spec"]>): NonNullable<Node["spec"]> {
	const { podCIDR = "", podCIDRs = [] } = spec;
	const [first] = podCIDRs;
	if (podCIDR === "") return first === undefined ? spec : { ...spec, podCIDR: first };
	return podCIDR === first ? spec : { ...spec, podCIDRs: [podCIDR] };
}

function validate(node: Node): readonly FieldError[] {
	const { taints = [], podCIDRs = [] } = node.spec ?? {};
	const repeated = repeatedIndexes(taints, ({ key, effect }) => JSON.stringify([key, effect]));
	return [
		...errorsOf(taints, (taint, index) => validateTaint(`spec.taints[${index}]`, taint, repeated.has(index))),
		...errorsOf(podCIDRs, (cidr, index) => validateLegacyCIDR(`spec.podCIDRs[${index}]`, cidr)),
		...validateFamilies(podCIDRs),
	];
}

function validateFamilies(podCIDRs: readonly string[]): readonly FieldError[] {
	const families = new Set(podCIDRs.map((cidr) => parseLenientCIDR(cidr)?.base.family));
	return families.size === podCIDRs.length
		? []
		: [invalid("spec.podCIDRs", podCIDRs, "may specify no more than one CIDR for each IP family")];
}

const TAINT_EFFECTS: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function validateTaint(field: string, taint: Taint, isRepeated: boolean): readonly FieldError[] {
	const { key, value = "", effect } = taint;
	return [
		...invalids(`${field}.key`, key, qualifiedNameProblems(key)),
		...invalids(`${field}.value`, value, labelValueProblems(value)),
		...validateEffect(`${field}.effect`, effect ?? ""),
		...(isRepeated ? [repeatedTaint(field, taint)] : []),
	];
}

function validateEffect(field: string, effect: string): readonly FieldError[] {
	if (effect === "") return [required(field, "")];
	return TAINT_EFFECTS.includes(effect) ? [] : [notSupported(field, effect, TAINT_EFFECTS)];
}

function repeatedTaint(field: string, { key, value = "", effect, timeAdded }: Taint): FieldError {
	const shown = { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null };
	return duplicate(field, shown, "taints must be unique by key and effect pair");
}

function validateUpdate(next: Node, stored: Node): readonly FieldError[] {
	const addresses = next.status?.addresses ?? [];
	const { podCIDRs = [], providerID = "" } = stored.spec ?? {};
	const repeated = repeatedIndexes(addresses, ({ type, address }) => JSON.stringify([type, address]));
	return [
		...validate(next),
		...errorsOf(addresses, (address, index): readonly FieldError[] => {
			if (!repeated.has(index)) return [];
			return [duplicate(`status.addresses[${index}]`, { Type: address.type, Address: address.address })];
		}),
		...(podCIDRs.length > 0 && !deepEqual(podCIDRs, next.spec?.podCIDRs ?? [])
			? [forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')]
			: []),
		...(providerID !== "" && providerID !== next.spec?.providerID
			? [forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')]
			: []),
	];
}

function nodeColumns(): readonly Column[] {
	return [
		NAME_COLUMN,
		column("Status", "The status of the node"),
		column("Roles", "The roles of the node"),
		AGE_COLUMN,
		column("Version", "Kubelet Version reported by the node."),
		wideColumn("Internal-IP", "The first internal address of the node."),
		wideColumn("External-IP", "The first external address of the node."),
		wideColumn("OS-Image", "OS Image reported by the node."),
		wideColumn("Kernel-Version", "Kernel Version reported by the node."),
		wideColumn("Container-Runtime", "ContainerRuntime Version reported by the node."),
	];
}

function nodeCells(node: Node, nowMs: number): readonly string[] {
	const nodeInfo = node.status?.nodeInfo ?? {};
	const kernel = nodeInfo["kernelVersion"] || "<unknown>";
	const architecture = nodeInfo["architecture"] || "";
	return [
		node.metadata.name,
		statusCell(node),
		rolesCell(node),
		age(nowMs, node.metadata.creationTimestamp),
		nodeInfo["kubeletVersion"] ?? "",
		addressCell(node, "InternalIP"),
		addressCell(node, "ExternalIP"),
		nodeInfo["osImage"] || "<unknown>",
		architecture === "" ? kernel : `${kernel} (${architecture})`,
		nodeInfo["containerRuntimeVersion"] || "<unknown>",
	];
}

function statusCell(node: Node): string {
	const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
	const status = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
	return node.spec?.unschedulable === true ? `${status},SchedulingDisabled` : status;
}

const ROLE_PREFIX = "node-role.kubernetes.io/";

function rolesCell(node: Node): string {
	const labels = node.metadata.labels ?? {};
	const roles = Object.keys(labels)
		.filter((key) => key.startsWith(ROLE_PREFIX))
		.map((key) => key.slice(ROLE_PREFIX.length));
	const all = [...roles, labels["kubernetes.io/role"] ?? ""].filter((role) => role !== "");
	return orNone([...new Set(all)].sort().join(","));
}

function addressCell(node: Node, type: string): string {
	return orNone(node.status?.addresses?.find((address) => address.type === type)?.address);
}
