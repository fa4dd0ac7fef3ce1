/**
 * Service: a name and an address for a set of pods.
 *
 * Cluster IPs and node ports are not filled in here: they must be claimed in the same commit, so
 * the API server calls `planServiceNetwork` between prepareCreate or prepareUpdate and validation.
 */
import { dns1123LabelName } from "../names.ts";
import { ALL_VERBS, defineResource, proxySubresource, type ResourceType, STATUS_SUBRESOURCE } from "../resource.ts";
import type { Service } from "../types/core.ts";
import { withServiceDefaults } from "./service-defaults.ts";
import { SERVICE_TABLE } from "./service-table.ts";
import { validateService, validateServiceStatus, validateServiceUpdate } from "./service-validation.ts";
import { serviceWarnings } from "./service-warnings.ts";

export const SERVICE: ResourceType = defineResource<Service>({
	group: "",
	version: "v1",
	kind: "Service",
	plural: "services",
	singular: "service",
	namespaced: true,
	shortNames: ["svc"],
	categories: ["all"],
	verbs: ALL_VERBS,
	subresources: [proxySubresource("ServiceProxyOptions"), STATUS_SUBRESOURCE],
	storagePrefix: "/registry/services/specs/",
	schema: "core.Service",
	nameProblems: dns1123LabelName,
	generation: "never",
	createOnUpdate: true,
	unconditionalUpdate: true,
	deleteAnswers: "object",
	fieldLabels: ["spec.clusterIP", "spec.type"],
	table: SERVICE_TABLE,
	withDefaults: withServiceDefaults,
	prepareCreate: (service) => ({ ...service, status: { loadBalancer: {} } }),
	prepareUpdate: (next, stored) => ({ ...next, status: stored.status ?? { loadBalancer: {} } }),
	prepareStatusUpdate: (next, stored) => ({ ...next, spec: stored.spec }),
	validate: (service) => validateService(service),
	validateUpdate: validateServiceUpdate,
	validateStatusUpdate: validateServiceStatus,
	warnings: serviceWarnings,
	fields: ({ spec }) => ({ "spec.clusterIP": spec.clusterIP ?? "", "spec.type": spec.type ?? "" }),
});
