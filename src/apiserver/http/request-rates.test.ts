import { beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../../api/status.ts";
import { RecordingMetrics } from "../../testing/recording-metrics.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { User } from "../ports.ts";
import { ANONYMOUS, AUTHENTICATED_GROUP, MASTERS_GROUP } from "../users.ts";
import { RequestRates } from "./request-rates.ts";

const BURST = 4;
const ANNA = { name: "anna", groups: [AUTHENTICATED_GROUP] };
const BERT = { name: "bert", groups: [AUTHENTICATED_GROUP] };

let clock: VirtualClock;
let metrics: RecordingMetrics;
let rates: RequestRates;
beforeEach(() => {
	clock = new VirtualClock();
	metrics = new RecordingMetrics();
	rates = new RequestRates({ clock, metrics }, { perSecond: 2, burst: BURST });
});

/** 0, or the seconds after which the client is to ask again. */
function asked(user: User = ANNA, { path = "/api/v1/pods", remoteAddress = "127.0.0.1" } = {}): number {
	try {
		rates.enter({ path, remoteAddress }, user);
		return 0;
	} catch (error) {
		if (!(error instanceof ApiError) || error.code !== 429) throw error;
		return error.details?.retryAfterSeconds ?? -1;
	}
}

function askedTimes(times: number, ...how: Parameters<typeof asked>): readonly number[] {
	return Array.from({ length: times }, () => asked(...how));
}

describe("request rates", () => {
	test("a client that asks too often is told when to come back, and the others are not", () => {
		expect(askedTimes(BURST + 2)).toEqual([0, 0, 0, 0, 1, 1]);
		expect(asked(BERT)).toBe(0);
		expect(metrics.values.get("sliceplane_apiserver_requests_over_rate_total")).toBe(2);
	});

	test("who was refused is served at the rate, and owes nothing for what was refused", async () => {
		askedTimes(100);
		await clock.advance(1_000);
		expect(askedTimes(3)).toEqual([0, 0, 1]);
	});

	test("masters and probes are never refused", () => {
		const admin = { name: "admin", groups: [MASTERS_GROUP] };
		expect(new Set(askedTimes(20, admin))).toEqual(new Set([0]));
		expect(new Set(askedTimes(20, ANONYMOUS, { path: "/livez/ping" }))).toEqual(new Set([0]));
	});

	test("who says nothing of itself counts by its address", () => {
		askedTimes(BURST, ANONYMOUS);
		expect(asked(ANONYMOUS)).toBe(1);
		expect(asked(ANONYMOUS, { remoteAddress: "127.0.0.2" })).toBe(0);
	});
});
