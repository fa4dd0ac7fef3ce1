import { expect, test } from "vitest";
import { keepingPort } from "./data-plane-channel.ts";
import type { DataPlaneConfig } from "./data-plane-messages.ts";

const CONFIG: DataPlaneConfig = {
	clusterCIDRs: [],
	serviceCIDRs: [],
	clusterDomain: "cluster.local",
	gateway: { host: "127.0.0.1", port: 0, user: "u", password: "p", namespace: "default" },
	dns: { host: "127.0.0.1", port: 0, upstreams: [] },
};

test("a data plane that is started again listens where people were told that it does", () => {
	const told = keepingPort(keepingPort(CONFIG, { kind: "gateway", port: 1080 }), { kind: "dns", port: 5353 });
	expect([told.gateway?.port, told.dns?.port]).toEqual([1080, 5353]);
	expect(keepingPort(CONFIG, { kind: "applied", asOf: "1" })).toBe(CONFIG);
});
