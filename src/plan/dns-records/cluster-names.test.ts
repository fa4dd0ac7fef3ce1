import { describe, expect, test } from "vitest";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import { meta, service } from "../../testing/builders.ts";
import type { ServedService } from "../service-map/served-service.ts";
import { meaningOf, type NameScope } from "./cluster-names.ts";
import { Zone } from "./zone.ts";

function served(name: string, spec: object, endpoints: readonly Endpoint[] = []): ServedService {
	const slice: EndpointSlice = {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta(`${name}-1`),
		addressType: "IPv4",
		endpoints,
		ports: [],
	};
	return { key: `default/${name}`, asOf: "1", service: service(name, spec), slices: [slice] };
}

const SERVICES = [
	served("web", {}),
	served("db", { clusterIP: "None" }, [
		{ addresses: ["10.244.0.1"], hostname: "db-0", conditions: { ready: true } },
		{ addresses: ["10.244.0.2"], hostname: "db-1", conditions: { ready: false } },
		{ addresses: ["10.244.0.3"], hostname: "db-2", conditions: {} },
	]),
	served("alias", { type: "ExternalName", externalName: "www.example.com", clusterIP: "" }),
	served("empty", { clusterIP: "None" }),
	served("early", { clusterIP: "None", publishNotReadyAddresses: true }, [
		{ addresses: ["10.244.0.4"], hostname: "early-0", conditions: { ready: true, serving: false } },
	]),
	served("inner", { type: "ExternalName", externalName: "web.default.svc.cluster.local", clusterIP: "" }),
];
const ZONE = new Zone({ name: "cluster.local.", ttl: 5 });
ZONE.putNamespace("default");
for (const each of SERVICES) ZONE.putService(each, 0);
const SCOPE: NameScope = { clusterDomain: "cluster.local", namespace: "default", zone: ZONE };

describe("meaningOf()", () => {
	test.each([
		["web", "10.96.0.10"],
		["web.default", "10.96.0.10"],
		["web.default.svc", "10.96.0.10"],
		["WEB.default.svc.Cluster.Local.", "10.96.0.10"],
		["db", "10.244.0.1 10.244.0.3"],
		["db-0.db.default.svc.cluster.local", "10.244.0.1"],
		["db-0.db.default", "10.244.0.1"],
		["db-0.db", "10.244.0.1"],
		["db-1.db.default.svc.cluster.local", "none"],
		["db-9.db.default.svc.cluster.local", "none"],
		["empty", "none"],
		["early-0.early", "10.244.0.4"],
		["inner", "10.96.0.10"],
		["alias.default.svc.cluster.local", "alias www.example.com"],
		["10-244-0-7.default.pod.cluster.local", "10.244.0.7"],
		["fd00--7.default.pod.cluster.local", "fd00::7"],
		["junk.default.pod.cluster.local", "none"],
		["nope.default.svc", "none"],
		["nope.cluster.local", "none"],
		["a.b.c.default.svc.cluster.local", "none"],
		["nope", "foreign"],
		["www.example.com", "foreign"],
		["web.other", "foreign"],
		["", "foreign"],
		["__proto__", "foreign"],
	])("%s means %s", (name, meaning) => {
		const found = meaningOf(name, SCOPE);
		const text = { addresses: "", alias: "alias ", none: "none", foreign: "foreign" }[found.kind];
		const more = found.kind === "addresses" ? found.ips.join(" ") : found.kind === "alias" ? found.name : "";
		expect(text + more).toBe(meaning);
	});
});
