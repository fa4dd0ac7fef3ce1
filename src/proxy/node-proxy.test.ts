import { expect, test } from "vitest";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { tableOf, targets } from "../testing/table-ports.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { NodeProxy } from "./node-proxy.ts";

const ASKED = { ip: "10.96.0.10", port: 80, protocol: "TCP" } as const;
const client = (ip: string) => ({ ip, place: "pod" }) as const;

function harness() {
	const clock = new VirtualClock();
	const node = { addresses: [], clusterCIDRs: [], serviceCIDRs: [] };
	const proxy = new NodeProxy(node, { clock, random: new SeededRandom(1) });
	/** Makes a connection that its first endpoint answers. */
	const connected = (ip: string): string => {
		const attempt = proxy.attempt(ASKED, client(ip));
		const target = attempt.take(new Set());
		if (target === undefined) return attempt.route.kind;
		attempt.connected(target);
		return endpointText(target);
	};
	return { clock, proxy, connected };
}

const STICKY = { affinitySeconds: 60, cluster: targets(1, 2, 3) };

test("takes the endpoints in turn", () => {
	const { proxy, connected } = harness();
	proxy.put(tableOf("demo/web", { cluster: targets(1, 2, 3) }));
	const times = Array.from({ length: 9 }, () => connected("10.244.1.1"));
	expect(
		["10.244.0.1:8080", "10.244.0.2:8080", "10.244.0.3:8080"].map((t) => times.filter((u) => u === t).length),
	).toEqual([3, 3, 3]);
});

test("lets a client stay with its endpoint, which others do not hang on", () => {
	const { proxy, connected } = harness();
	proxy.put(tableOf("demo/web", STICKY));
	const first = connected("10.244.1.1");
	expect(new Set(["10.244.1.2", "10.244.1.3"].map(connected))).not.toContain(first);
	expect([connected("10.244.1.1"), connected("10.244.1.1")]).toEqual([first, first]);
});

test("forgets a client after its time, counted from its last new connection", async () => {
	const { clock, proxy, connected } = harness();
	proxy.put(tableOf("demo/web", STICKY));
	const first = connected("10.244.1.1");
	await clock.advance(59_000);
	expect(connected("10.244.1.1")).toBe(first);
	await clock.advance(59_000);
	expect(proxy.route(ASKED, client("10.244.1.1"))).toMatchObject({ targets: [{ ip: first.split(":")[0] }] });
	await clock.advance(1_000);
	expect(proxy.route(ASKED, client("10.244.1.1"))).toMatchObject({ targets: targets(1, 2, 3) });
});

test("gives a client another endpoint when its own is gone, or does not answer", () => {
	const { proxy, connected } = harness();
	proxy.put(tableOf("demo/web", STICKY));
	const first = connected("10.244.1.1");
	const attempt = proxy.attempt(ASKED, client("10.244.1.1"));
	const tried = new Set<string>();
	attempt.take(tried);
	attempt.failed();
	expect(endpointText(attempt.take(tried) ?? { ip: "", port: 0 })).not.toBe(first);
	proxy.remember("10.244.1.1", first);
	proxy.put(
		tableOf("demo/web", { ...STICKY, cluster: STICKY.cluster.filter((target) => endpointText(target) !== first) }),
	);
	expect(connected("10.244.1.1")).not.toBe(first);
});

test("has nothing to give when nobody is there", () => {
	const { proxy, connected } = harness();
	proxy.put(tableOf("demo/web", { hasAny: false }));
	expect(connected("10.244.1.1")).toBe("reject");
	proxy.remove("demo/web");
	expect(connected("10.244.1.1")).toBe("absent");
});
