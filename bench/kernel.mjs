#!/usr/bin/env node
/**
 * Loads many Services into the kernel of a network namespace of its own, and changes one; prints JSON.
 *
 *     node bench/kernel.mjs --services 10000
 *
 * nft's own time is beside the whole: what it takes to load the same text from a file. Wants root and nftables.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { nameHash } from "../dist/edge/name-hash.js";
import { NftProgram } from "../dist/edge/nft-program.js";
import { SystemClock } from "../dist/edge/system-clock.js";
import { podsByRange } from "../dist/plan/nft/config.js";
import { planServiceTable } from "../dist/plan/service-map/service-table.js";
import { FamilyRules } from "../dist/proxy/family-rules.js";

const { values } = parseArgs({ options: { services: { type: "string", default: "10000" } } });
const ENDPOINTS = 5;
const CHANGES = 20;

function table(index, last = 0) {
	const name = `service-${index}`;
	const service = {
		metadata: { name, namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z" },
		spec: {
			type: "NodePort",
			clusterIP: `10.${96 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
			ports: [{ name: "http", port: 80, protocol: "TCP", ...(index < 2_000 ? { nodePort: 30_000 + index } : {}) }],
		},
	};
	const endpoints = Array.from({ length: ENDPOINTS }, (_, n) => ({
		addresses: [`10.244.${(index >> 4) & 255}.${((index & 15) << 4) + n + (n === 0 ? last : 0)}`],
		conditions: { ready: true },
		nodeName: n === 0 ? "n1" : "n2",
	}));
	const slice = {
		metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": name }, creationTimestamp: "" },
		addressType: "IPv4",
		ports: [{ name: "http", port: 8080, protocol: "TCP" }],
		endpoints,
	};
	return planServiceTable(service, [slice], { nodeName: "n1" });
}

class TimedKernel {
	loads = [];
	texts = [];

	constructor(namespace) {
		this.kernel = new NftProgram({
			family: "ip",
			table: "sliceplane",
			command: ["ip", "netns", "exec", namespace, "nft"],
		});
	}

	async load(text) {
		const startedMs = performance.now();
		const result = await this.kernel.load(text);
		if (result.kind === "failed") throw new Error(result.message);
		this.loads.push({ bytes: text.length, ms: performance.now() - startedMs, doneMs: performance.now() });
		this.texts.push(text);
		return result;
	}

	chains = () => this.kernel.chains();
	list = () => this.kernel.list();
}

const median = (samples) => [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)];
const round = (ms) => Math.round(ms * 10) / 10;

async function inNamespace(run) {
	const namespace = `sp-bench-${process.pid}`;
	execFileSync("ip", ["netns", "add", namespace]);
	try {
		return await run(namespace);
	} finally {
		execFileSync("ip", ["netns", "del", namespace]);
	}
}

async function measure(count) {
	const loaded = await inNamespace(async (namespace) => {
		const kernel = new TimedKernel(namespace);
		const config = {
			family: "IPv4",
			table: "sliceplane",
			nodeAddresses: ["192.168.50.1"],
			nodeName: "n1",
			localPods: podsByRange("IPv4", ["10.244.0.0/16"]),
			serviceCIDRs: ["10.96.0.0/12"],
			masqueradeAll: false,
			masqueradeBit: 14,
			hash: nameHash,
		};
		const rules = new FamilyRules(config, kernel, new SystemClock());
		const startedMs = performance.now();
		for (let index = 0; index < count; index++) rules.put(table(index));
		await rules.sync();
		const allMs = performance.now() - startedMs;
		const firstMs = kernel.loads[1].doneMs - startedMs;
		const texts = kernel.texts.splice(0);
		kernel.loads = [];
		const changes = [];
		for (let change = 0; change < CHANGES; change++) {
			const changedMs = performance.now();
			rules.put(table(Math.floor((count * change) / CHANGES), 9));
			await rules.sync();
			changes.push(performance.now() - changedMs);
		}
		return {
			firstThousandMs: round(firstMs),
			allMs: round(allMs),
			changeMs: round(median(changes)),
			changeNftMs: round(median(kernel.loads.map(({ ms }) => ms))),
			changeBytes: Math.max(...kernel.loads.map(({ bytes }) => bytes)),
			texts,
		};
	});
	const nftMs = await inNamespace((namespace) => {
		const startedMs = performance.now();
		for (const text of loaded.texts) spawnSync("ip", ["netns", "exec", namespace, "nft", "-f", "-"], { input: text });
		return performance.now() - startedMs;
	});
	const { texts: _, ...figures } = loaded;
	return { services: count, ...figures, nftAloneMs: round(nftMs) };
}

const all = Number(values.services);
const small = await measure(Math.min(1_000, all));
const large = await measure(all);
process.stdout.write(
	`${JSON.stringify({ small, large, changeRatio: round(large.changeMs / small.changeMs) }, undefined, 2)}\n`,
);
