/** What a watcher asks for, with a predicate of its own to compare the server's with. */
import type { ResourceType } from "../../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, IP_ADDRESSES, PODS, SERVICES } from "../../api/resource-names.ts";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import type { Pod } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { SERVICE_NAME_LABEL } from "../../api/well-known.ts";
import { assertDefined } from "../../kernel/assert.ts";
import type { Dice } from "./dice.ts";

export interface WatchSelection {
	readonly type: ResourceType;
	/** "" for all. */
	readonly namespace: string;
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
	matches(object: KubeObject): boolean;
}

interface Rule {
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
	holds(object: KubeObject): boolean;
}

const label = ({ metadata }: KubeObject, key: string): string | undefined => metadata.labels?.[key];

const EVERYTHING: Rule = { holds: () => true };
const LABEL_RULES: readonly Rule[] = [
	{ labelSelector: "app=web", holds: (object) => label(object, "app") === "web" },
	{ labelSelector: "app!=web", holds: (object) => label(object, "app") !== "web" },
	{ labelSelector: "!tier", holds: (object) => label(object, "tier") === undefined },
	{
		labelSelector: "app in (web,api),tier",
		holds: (object) => ["web", "api"].includes(label(object, "app") ?? "") && label(object, "tier") !== undefined,
	},
];
const POD_RULES: readonly Rule[] = [
	{ fieldSelector: "spec.nodeName=n1", holds: (object) => (object as Pod).spec.nodeName === "n1" },
	{ fieldSelector: "status.phase!=Running", holds: (object) => (object as Pod).status?.phase !== "Running" },
];
const SLICE_RULES: readonly Rule[] = [
	{ labelSelector: `${SERVICE_NAME_LABEL}=web`, holds: (object) => label(object, SERVICE_NAME_LABEL) === "web" },
	{ labelSelector: `!${SERVICE_NAME_LABEL}`, holds: (object) => label(object, SERVICE_NAME_LABEL) === undefined },
];
const NAME_RULE: Rule = { fieldSelector: "metadata.name=web", holds: ({ metadata }) => metadata.name === "web" };

const WATCHED: readonly (readonly [plural: string, rules: readonly Rule[]])[] = [
	[PODS.plural, [EVERYTHING, ...LABEL_RULES, ...POD_RULES]],
	[SERVICES.plural, [EVERYTHING, NAME_RULE, ...LABEL_RULES]],
	[ENDPOINT_SLICES.plural, [EVERYTHING, ...SLICE_RULES]],
	[ENDPOINTS.plural, [EVERYTHING, NAME_RULE]],
	// Of a Service with two families both addresses are claimed by one commit.
	[IP_ADDRESSES.plural, [EVERYTHING]],
];

export function randomSelection(dice: Dice, namespaces: readonly string[]): WatchSelection {
	const [plural, rules] = dice.of(WATCHED);
	const type = assertDefined(
		RESOURCE_TYPES.find((each) => each.plural === plural),
		`type of ${plural}`,
	);
	const namespace = type.namespaced && dice.chance(0.4) ? dice.of(namespaces) : "";
	const { holds, ...selectors } = dice.of(rules);
	const isInNamespace = ({ metadata }: KubeObject): boolean => namespace === "" || metadata.namespace === namespace;
	return { type, namespace, ...selectors, matches: (object) => isInNamespace(object) && holds(object) };
}

/** Path and query of the selection, ready for more parameters. */
export function pathOf({ type, namespace, labelSelector, fieldSelector }: WatchSelection): string {
	const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
	const place = namespace === "" ? "" : `/namespaces/${namespace}`;
	const query = [
		...(labelSelector === undefined ? [] : [`labelSelector=${encodeURIComponent(labelSelector)}`]),
		...(fieldSelector === undefined ? [] : [`fieldSelector=${encodeURIComponent(fieldSelector)}`]),
	];
	return `${root}${place}/${type.plural}?${query.join("&")}`;
}

export function textOf(selection: WatchSelection): string {
	const { type, namespace, labelSelector = "", fieldSelector = "" } = selection;
	return `${type.plural} ns=${namespace} ${labelSelector}${fieldSelector}`;
}
