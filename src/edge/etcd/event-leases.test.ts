import { expect, test } from "vitest";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { EventLeases } from "./event-leases.ts";

/** Grants leases 1, 2, 3, ...; or fails. */
class Granted {
	readonly seconds: number[] = [];
	isFailing = false;

	grantLease(ttlSeconds: number): Promise<bigint> {
		if (this.isFailing) return Promise.reject(new Error("no"));
		this.seconds.push(ttlSeconds);
		return Promise.resolve(BigInt(this.seconds.length));
	}
}

test("a lease is shared for a minute, by a thousand at most, and lives an hour longer than that", async () => {
	const clock = new VirtualClock();
	const granted = new Granted();
	const leases = new EventLeases(granted, clock);
	for (let use = 0; use < 1_000; use++) expect(await leases.lease()).toBe(1n);
	expect(await leases.lease()).toBe(2n);
	await clock.advance(59_000);
	expect(await leases.lease()).toBe(2n);
	await clock.advance(1_000);
	expect(await leases.lease()).toBe(3n);
	expect(granted.seconds).toEqual([3_660, 3_660, 3_660]);
});

test("a lease that could not be had, or is gone, is asked for anew", async () => {
	const granted = new Granted();
	const leases = new EventLeases(granted, new VirtualClock());
	granted.isFailing = true;
	await expect(leases.lease()).rejects.toThrow("no");
	granted.isFailing = false;
	expect(await leases.lease()).toBe(1n);
	leases.forget();
	expect(await leases.lease()).toBe(2n);
});
