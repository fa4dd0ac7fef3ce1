import { describe, expect, test } from "vitest";
import { parseCIDR } from "../../api/ip.ts";
import { validateEndpointIP } from "../../api/ip-validation.ts";
import { apiEndpointIP, apiService } from "./api-service.ts";

function place(host: string, range = "10.96.0.0/16") {
	const serviceRange = parseCIDR(range);
	if (serviceRange === undefined) throw new Error(range);
	return { host, port: 6443, serviceRange };
}

describe("the address of the API in its endpoints", () => {
	test.each([
		["its own", "192.0.2.10", "10.96.0.0/16", "192.0.2.10"],
		["a stand-in for loopback, which no endpoint may name", "127.0.0.1", "10.96.0.0/16", "192.168.255.254"],
		["a stand-in for every address", "0.0.0.0", "10.96.0.0/16", "192.168.255.254"],
		["a stand-in for a name", "localhost", "10.96.0.0/16", "192.168.255.254"],
		["one of the Service's family", "192.0.2.10", "fd00:96::/112", "fd00:192:168::ffff:fffe"],
	])("is %s", (_, host, range, ip) => {
		expect(apiEndpointIP(place(host, range))).toBe(ip);
		expect(validateEndpointIP("", ip)).toEqual([]);
	});
});

test("the Service has the first usable address of the range", () => {
	expect(apiService(place("127.0.0.1"))).toMatchObject({
		metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
		spec: { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, targetPort: 6443 }] },
	});
});
