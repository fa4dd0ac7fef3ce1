#!/usr/bin/env node
/**
 * Durable creates through the API's in-process transport, beside the same bytes put into LMDB alone; prints JSON.
 *
 *     node bench/store.mjs --writers 128 --creates 20000
 *     node bench/store.mjs --etcd-servers http://127.0.0.1:2379      an etcd of its own, which is written to
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { open } from "lmdb";
import { RESOURCE_TYPES } from "../dist/api/resource-table.js";
import { ApiServer } from "../dist/apiserver/api-server.js";
import { InProcessClient } from "../dist/apiserver/in-process-client.js";
import { MASTERS_GROUP } from "../dist/apiserver/users.js";
import { openDataFolder } from "../dist/edge/lmdb-log.js";
import { loggedStore } from "../dist/store/store.js";
import { bootstrap } from "../dist/wiring/bootstrap.js";
import { networkRanges } from "../dist/wiring/network-ranges.js";
import { DEFAULT_PLANE_OPTIONS } from "../dist/wiring/plane-options.js";
import { systemPorts } from "../dist/wiring/system-ports.js";

const { values } = parseArgs({
	options: {
		writers: { type: "string", default: "128" },
		creates: { type: "string", default: "20000" },
		"etcd-servers": { type: "string" },
	},
});
const writers = Number(values.writers);
const creates = Number(values.creates);
const CONFIG_MAPS = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-store-bench-"));

/** Runs `work` of an index by so many at once; how many a second. */
async function rate(count, work) {
	let next = 0;
	const startedMs = performance.now();
	const worker = async () => {
		while (next < count) await work(next++);
	};
	await Promise.all(Array.from({ length: writers }, worker));
	return Math.round(count / ((performance.now() - startedMs) / 1_000));
}

async function through(store, prefix) {
	const { clock, random, log, metrics } = systemPorts("warn");
	const ranges = networkRanges(DEFAULT_PLANE_OPTIONS);
	const server = new ApiServer({ store, types: RESOURCE_TYPES, clock, random, ids: random, log, metrics, ranges });
	const client = new InProcessClient(server, { name: "bench", groups: [MASTERS_GROUP] });
	await bootstrap(client);
	const create = (index) =>
		client.create(CONFIG_MAPS, "default", {
			metadata: { name: `${prefix}-${index}` },
			data: { text: "x".repeat(200) },
		});
	await rate(2_000, (index) => create(`warm-${index}`));
	return rate(creates, create);
}

/** Beside it: the same objects put into etcd by its client alone, without reading the revision before. */
async function onEtcd(servers) {
	const { openEtcdStore } = await import("../dist/edge/etcd/open-etcd-store.js");
	const options = { servers, prefix: `/bench-${Date.now()}`, ...systemPorts("warn") };
	const { store, close } = await openEtcdStore(options);
	const api = await through(store, "c");
	const object = (name) => ({
		kind: "ConfigMap",
		apiVersion: "v1",
		metadata: { name },
		data: { text: "x".repeat(200) },
	});
	const put = (index) => {
		const place = { space: "/registry/configmaps/", key: `alone/c-${index}` };
		const writes = [{ kind: "put", ...place, object: object(`c-${index}`) }];
		return store.commit(writes, [{ ...place, expected: 0 }]);
	};
	const storeAlone = await rate(creates, put);
	await close();
	return { etcd: api, etcdStoreAlone: storeAlone };
}

if (values["etcd-servers"] !== undefined) {
	const perSecond = await onEtcd(values["etcd-servers"].split(","));
	process.stdout.write(`${JSON.stringify({ writers, creates, perSecond }, undefined, 2)}\n`);
	rmSync(folder, { recursive: true, force: true });
	process.exit(0);
}

try {
	const { view, log, close } = await openDataFolder({
		folder: path.join(folder, "data"),
		start: 1,
		metrics: systemPorts("warn").metrics,
	});
	const durable = await through(loggedStore(view, log), "c");
	await close();
	const { memoryStore } = await import("../dist/store/store.js");
	const memory = await through(memoryStore(1), "c");
	const root = open({ path: path.join(folder, "alone"), overlappingSync: false });
	const alone = await rate(creates, (index) => root.put(`c-${index}`, "x".repeat(600)));
	await root.close();
	process.stdout.write(
		`${JSON.stringify({ writers, creates, perSecond: { durable, memory, lmdbAlone: alone } }, undefined, 2)}\n`,
	);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
