import { expect, test } from "vitest";
import { service } from "../testing/builders.ts";
import { TestServer } from "../testing/test-server.ts";
import { claimWhatIsHeld } from "./service-claims.ts";

test("what Services hold that another kind of server has stored is claimed, once", async () => {
	const server = await TestServer.start();
	const { store } = server;
	const spec = { type: "NodePort", clusterIP: "10.96.0.9", clusterIPs: ["10.96.0.9"] } as const;
	const ports = [{ port: 80, protocol: "TCP", nodePort: 30_009 }] as const;
	const old = service("old", { ...spec, ports });
	await store.commit([{ kind: "put", space: "/registry/services/specs/", key: "default/old", object: old }]);
	await claimWhatIsHeld(server.server.ports);
	const { revision } = store;
	await claimWhatIsHeld(server.server.ports);
	expect(store.revision).toBe(revision);
	expect(store.space("/registry/ipaddresses/").get("10.96.0.9")?.object).toMatchObject({
		spec: { parentRef: { resource: "services", namespace: "default", name: "old" } },
	});
	const body = { metadata: { name: "new" }, spec: { type: "NodePort", ports } };
	const refused = await server.request("POST", "/api/v1/namespaces/default/services", { body });
	expect(refused.json.message).toContain("provided port is already allocated");
});
