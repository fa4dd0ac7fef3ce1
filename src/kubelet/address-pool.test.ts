import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CIDR, parseCIDR } from "../api/ip.ts";
import { assertDefined } from "../kernel/assert.ts";
import { AddressPool } from "./address-pool.ts";
import { NodeAddresses } from "./node-addresses.ts";

function range(text: string): CIDR {
	return assertDefined(parseCIDR(text), text);
}

function taken(pool: AddressPool, count: number): readonly (string | undefined)[] {
	return Array.from({ length: count }, () => pool.take());
}

describe("AddressPool", () => {
	test("leaves out the network, the bridge and the broadcast address", () => {
		const expected = ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", undefined];
		expect(taken(new AddressPool(range("10.0.0.0/29")), 6)).toEqual(expected);
	});

	test("gives an address again as late as it can", () => {
		const pool = new AddressPool(range("10.0.0.0/29"));
		taken(pool, 2);
		pool.release("10.0.0.2");
		expect(taken(pool, 5)).toEqual(["10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.2", undefined]);
	});

	test("does not give what it was told is in use", () => {
		const pool = new AddressPool(range("10.0.0.0/29"));
		pool.adopt("10.0.0.3");
		expect(taken(pool, 2)).toEqual(["10.0.0.2", "10.0.0.4"]);
	});

	test("works on ranges far larger than a node can use", () => {
		expect(taken(new AddressPool(range("fd00::/64")), 2)).toEqual(["fd00::2", "fd00::3"]);
	});

	test("has nothing to give where there is no room", () => {
		expect(new AddressPool(range("10.0.0.0/31")).take()).toBeUndefined();
	});

	test("never gives one address to two Pods", () => {
		const steps = fc.array(fc.oneof(fc.constant("take" as const), fc.nat(20)), { maxLength: 60 });
		fc.assert(
			fc.property(steps, (commands) => {
				const pool = new AddressPool(range("10.0.0.0/28"));
				const held: string[] = [];
				for (const command of commands) {
					if (command === "take") {
						const address = pool.take();
						expect(address === undefined).toBe(held.length === 13);
						expect(held).not.toContain(address);
						if (address !== undefined) held.push(address);
					} else for (const address of held.splice(command, 1)) pool.release(address);
				}
			}),
		);
	});
});

describe("NodeAddresses", () => {
	test("gives one address of each family, or none at all", () => {
		const addresses = new NodeAddresses([range("10.0.0.0/24"), range("fd00::/126")]);
		expect(addresses.take()).toEqual(["10.0.0.2", "fd00::2"]);
		expect(addresses.take()).toBeUndefined();
		addresses.release(["10.0.0.2", "fd00::2"]);
		// The IPv4 address of the attempt that failed is free again.
		for (let i = 0; i < 500; i++) {
			const next = addresses.take();
			expect(next).toBeDefined();
			addresses.release(next ?? []);
		}
	});
});
