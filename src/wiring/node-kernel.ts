/** kube-proxy's rules of one simulated node, in the kernel of its network namespace. */
import { familyOf } from "../api/ip.ts";
import type { IPFamily } from "../api/types/meta.ts";
import { Conntrack, type KernelFlow } from "../edge/conntrack.ts";
import { nameHash } from "../edge/name-hash.ts";
import type { NodeNetwork } from "../edge/netns/plane-namespaces.ts";
import { NftProgram } from "../edge/nft-program.ts";
import type { Informers } from "../machinery/informers.ts";
import { type NftConfig, nftFamily, podsByRange } from "../plan/nft/config.ts";
import { healthCheckPortOf } from "../plan/service-map/health-check.ts";
import type { ServiceTable } from "../plan/service-map/service-table.ts";
import { FamilyRules } from "../proxy/family-rules.ts";
import { KernelProxy } from "../proxy/kernel-proxy.ts";
import { ServiceFollower } from "../proxy/service-follower.ts";
import type { Changes } from "./data-plane-messages.ts";
import { FAMILIES } from "./proxy-node.ts";
import type { SystemPorts } from "./system-ports.ts";

export interface NodeKernelOptions {
	readonly clusterCIDRs: readonly string[];
	readonly serviceCIDRs: readonly string[];
}

const TABLE = "sliceplane";
const LOCAL_TABLE = "sliceplane-local";
const MASQUERADE_BIT = 14;
/** How soon a failed run is tried again. */
const SYNC_PERIOD_MS = 30_000;

export class NodeKernel {
	readonly #proxy: KernelProxy<KernelFlow>;
	readonly #follower: ServiceFollower;
	/** Decided, and not in the kernel's hands yet; undefined: the Service is gone. */
	readonly #pending = new Map<string, ServiceTable | undefined>();
	readonly #loadLocalRules: () => Promise<unknown>;

	constructor(
		node: NodeNetwork,
		namespace: string,
		options: NodeKernelOptions,
		ports: SystemPorts & { readonly informers: Informers },
	) {
		const { clock, log, metrics, informers } = ports;
		const inside = (program: string) => ["ip", "netns", "exec", namespace, program];
		const families = FAMILIES.filter((family) => node.addresses.some((ip) => familyOf(ip) === family));
		const rules = families.map((family) => {
			const kernel = new NftProgram({ family: nftFamily(family), table: TABLE, command: inside("nft") });
			return new FamilyRules(nftConfig(node, family, options), kernel, clock);
		});
		this.#loadLocalRules = async () => {
			for (const family of families) {
				const kernel = new NftProgram({ family: nftFamily(family), table: LOCAL_TABLE, command: inside("nft") });
				const loaded = await kernel.load(localRules(family, node.addresses));
				if (loaded.kind === "failed")
					log.error("The kernel refused rules", { node: node.name, reason: loaded.message });
			}
		};
		const flows = new Conntrack(log, inside("conntrack"));
		const kernelOptions = { minSyncPeriodMs: 0, syncPeriodMs: SYNC_PERIOD_MS, nodeAddresses: node.addresses };
		this.#proxy = new KernelProxy(rules, { clock, log, metrics, flows }, kernelOptions);
		this.#follower = new ServiceFollower(informers, node.name, log);
	}

	/** Follows Services and slices from now on. Returns how to stop. */
	follow(): () => void {
		return this.#follower.follow(() => undefined);
	}

	/** Decides by what is known now, and changes nothing yet. */
	decide(): void {
		this.#follower.sync({
			tables: this.#proxy.tables,
			put: (table) => this.#pending.set(table.key, table),
			remove: (key) => this.#pending.set(key, undefined),
		});
	}

	/** Hands over what was decided. Returns the tables of Services that have, or had, a health check node port. */
	commit(): Changes<ServiceTable> {
		const put: ServiceTable[] = [];
		const remove: string[] = [];
		for (const [key, table] of this.#pending) {
			const known = this.#proxy.tables.get(key);
			const hadPort = known !== undefined && healthCheckPortOf(known) !== 0;
			if (table !== undefined && healthCheckPortOf(table) !== 0) put.push(table);
			else if (hadPort) remove.push(key);
			if (table === undefined) this.#proxy.remove(key);
			else this.#proxy.put(table);
		}
		this.#pending.clear();
		return { put, remove };
	}

	/** All Services with a health check node port. */
	get checked(): readonly ServiceTable[] {
		return [...this.#proxy.tables.values()].filter((table) => healthCheckPortOf(table) !== 0);
	}

	/** Resolves when the kernel has all that was handed over. */
	synced(): Promise<void> {
		return this.#proxy.synced();
	}

	async run(signal: AbortSignal): Promise<void> {
		await this.#loadLocalRules();
		await this.#proxy.run(signal);
	}
}

/**
 * Packets to pods in the node's own namespace never leave it, and so never meet the rule that masquerades: what is
 * marked for it gets the node's address here. Without a mark nothing is changed.
 */
function localRules(family: IPFamily, addresses: readonly string[]): string {
	const [kind, own] = [nftFamily(family), addresses.find((ip) => familyOf(ip) === family)];
	const mark = `0x${(1 << MASQUERADE_BIT).toString(16)}`;
	const at = `${kind} ${LOCAL_TABLE}`;
	return [
		`add table ${at}`,
		`delete table ${at}`,
		`add table ${at}`,
		`add chain ${at} input { type nat hook input priority 100; }`,
		`add rule ${at} input meta mark and ${mark} != 0 meta mark set meta mark xor ${mark} snat ${kind} to ${own} fully-random`,
		"",
	].join("\n");
}

function nftConfig(node: NodeNetwork, family: IPFamily, options: NodeKernelOptions): NftConfig {
	const ofFamily = (texts: readonly string[]): readonly string[] =>
		texts.filter((text) => text.includes(":") === (family === "IPv6"));
	const localPods = podsByRange(family, ofFamily(options.clusterCIDRs));
	return {
		family,
		table: TABLE,
		nodeAddresses: ofFamily(node.addresses),
		nodeName: node.name,
		...(localPods === undefined ? {} : { localPods }),
		serviceCIDRs: ofFamily(options.serviceCIDRs),
		masqueradeAll: false,
		masqueradeBit: MASQUERADE_BIT,
		hash: nameHash,
	};
}
