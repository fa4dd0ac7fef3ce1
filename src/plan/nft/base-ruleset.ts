/**
 * The part of the rules that does not depend on Services: hooks, fixed chains, empty sets and maps.
 *
 * Loading it again changes nothing: what is there is emptied and filled anew in one transaction, except for the
 * sets and maps, whose elements are kept.
 *
 * @see KEP-3866
 */
import { addressType, masqueradeMark, type NftConfig, nftFamily } from "./config.ts";
import type { Container } from "./objects.ts";

type BaseChain = readonly [name: string, type: "filter" | "nat", hook: string, priority: number];

const BASE_CHAINS: readonly BaseChain[] = [
	["filter-prerouting-pre-dnat", "filter", "prerouting", -110],
	["filter-output-pre-dnat", "filter", "output", -110],
	["nat-prerouting", "nat", "prerouting", -100],
	["nat-output", "nat", "output", -100],
	["nat-postrouting", "nat", "postrouting", 100],
	["filter-input", "filter", "input", 0],
	["filter-forward", "filter", "forward", 0],
	["filter-output", "filter", "output", 0],
];

const FIXED_CHAINS = [
	"services",
	"masquerading",
	"firewall-check",
	"service-endpoints-check",
	"nodeport-endpoints-check",
	"cluster-ips-check",
	"reject-chain",
] as const;

/** A verdict map cannot hold `reject`, which is a statement: it goes to this chain instead. */
export const REJECT = "goto reject-chain";

/** Keys of sets and maps; `address` stands for the family's. Those with a verdict are maps. */
const CONTAINERS: readonly (readonly [name: Container, key: string, kind: "set" | "map"])[] = [
	["cluster-ips", "address", "set"],
	["nodeport-ips", "address", "set"],
	["hairpin-connections", "address . address . inet_proto . inet_service", "set"],
	["service-ips", "address . inet_proto . inet_service", "map"],
	["service-nodeports", "inet_proto . inet_service", "map"],
	["firewall-ips", "address . inet_proto . inet_service", "map"],
	["no-endpoint-services", "address . inet_proto . inet_service", "map"],
	["no-endpoint-nodeports", "inet_proto . inet_service", "map"],
];

/** Of all hooks and fixed chains: how many rules each has. */
export function baseRuleCounts(config: NftConfig): ReadonlyMap<string, number> {
	const counts = new Map<string, number>(
		[...BASE_CHAINS.map(([name]) => name), ...FIXED_CHAINS].map((name) => [name, 0]),
	);
	for (const rule of [...hookRules(), ...fixedRules(config)]) {
		const name = rule.slice(0, rule.indexOf(" "));
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return counts;
}

export const CONTAINER_NAMES: readonly Container[] = CONTAINERS.map(([name]) => name);

/** One transaction for `nft -f`. */
export function baseRuleset(config: NftConfig): readonly string[] {
	const at = `${nftFamily(config.family)} ${config.table}`;
	const chains = [...BASE_CHAINS.map(([name]) => name), ...FIXED_CHAINS];
	return [
		`add table ${at}`,
		...BASE_CHAINS.map(
			([name, type, hook, priority]) =>
				`add chain ${at} ${name} { type ${type} hook ${hook} priority ${priority}; policy accept; }`,
		),
		...FIXED_CHAINS.map((name) => `add chain ${at} ${name}`),
		...chains.map((name) => `flush chain ${at} ${name}`),
		...CONTAINERS.map(([name, key, kind]) => {
			const type = key.replaceAll("address", addressType(config.family));
			return `add ${kind} ${at} ${name} { type ${type}${kind === "map" ? " : verdict" : ""}; }`;
		}),
		...hookRules().map((rule) => `add rule ${at} ${rule}`),
		...fixedRules(config).map((rule) => `add rule ${at} ${rule}`),
		`flush set ${at} nodeport-ips`,
		...(config.nodeAddresses.length === 0
			? []
			: [`add element ${at} nodeport-ips { ${config.nodeAddresses.join(", ")} }`]),
	];
}

function hookRules(): readonly string[] {
	return [
		"filter-prerouting-pre-dnat ct state new jump firewall-check",
		"filter-output-pre-dnat ct state new jump firewall-check",
		"nat-prerouting jump services",
		"nat-output jump services",
		"nat-postrouting jump masquerading",
		"filter-input ct state new jump nodeport-endpoints-check",
		"filter-input ct state new jump service-endpoints-check",
		"filter-forward ct state new jump service-endpoints-check",
		"filter-forward ct state new jump cluster-ips-check",
		"filter-output ct state new jump service-endpoints-check",
		"filter-output ct state new jump cluster-ips-check",
	];
}

function fixedRules(config: NftConfig): readonly string[] {
	const ip = nftFamily(config.family);
	const mark = masqueradeMark(config);
	const asked = `${ip} daddr . meta l4proto . th dport`;
	return [
		...offClusterRule(config, mark),
		`services ${asked} vmap @service-ips`,
		`services ${ip} daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports`,
		// The bit is taken away before, so that no other table masquerades the packet again.
		`masquerading meta mark and ${mark} != 0 meta mark set meta mark xor ${mark} masquerade fully-random`,
		`masquerading ct status dnat ${ip} saddr . ${ip} daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random`,
		`firewall-check ${asked} vmap @firewall-ips`,
		`service-endpoints-check ${asked} vmap @no-endpoint-services`,
		`nodeport-endpoints-check ${ip} daddr @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports`,
		`cluster-ips-check ${ip} daddr @cluster-ips ${REJECT}`,
		...(config.serviceCIDRs.length === 0
			? []
			: [`cluster-ips-check ${ip} daddr { ${config.serviceCIDRs.join(", ")} } drop`]),
		// The kernel limits how many ICMP refusals it sends, so that half of 20 quick connects would wait in vain.
		"reject-chain meta l4proto tcp reject with tcp reset",
		"reject-chain reject",
	];
}

/** Who is no pod of the cluster may not know the way back to its address. */
function offClusterRule({ family, localPods, masqueradeAll }: NftConfig, mark: string): readonly string[] {
	if (!masqueradeAll && localPods === undefined) return [];
	const who = masqueradeAll || localPods === undefined ? "" : ` ${localPods.otherwise}`;
	return [`services ${nftFamily(family)} daddr @cluster-ips${who} meta mark set meta mark or ${mark}`];
}
