import { Zone } from "../plan/dns-records/zone.ts";
import { meta, service } from "./builders.ts";

/** In namespace `default`: `web` with a cluster IP, headless `db` with so many endpoints, and `out` that is elsewhere. */
export function zoneWith(endpoints: number): Zone {
	const zone = new Zone({ name: "cluster.local.", ttl: 5 });
	zone.putNamespace("default");
	const slice = {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta("db-1"),
		addressType: "IPv4",
		ports: [{ name: "sql", port: 5432 }],
		endpoints: Array.from({ length: endpoints }, (_, i) => ({
			addresses: [`10.244.0.${i + 1}`],
			conditions: { ready: true },
		})),
	} as const;
	zone.putService({ key: "default/web", asOf: "1", service: service("web"), slices: [] }, 1);
	zone.putService({ key: "default/db", asOf: "1", service: service("db", { clusterIP: "None" }), slices: [slice] }, 1);
	const out = service("out", { type: "ExternalName", externalName: "www.example.com", clusterIP: "" });
	zone.putService({ key: "default/out", asOf: "1", service: out, slices: [] }, 1);
	return zone;
}
