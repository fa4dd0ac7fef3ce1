/** The status of a Pod as the runner writes it: nobody else does. */
import type { Pod } from "../../api/types/core.ts";
import type { PodStatusShorthand } from "../format/objects.ts";
import type { Raw } from "../format/vocabulary.ts";

interface Condition {
	readonly type?: unknown;
	readonly status?: unknown;
	readonly lastTransitionTime?: unknown;
}

/** Of a Pod that was just made: it runs unless the shorthand says otherwise. */
export function newPodStatus(shorthand: PodStatusShorthand, now: string): Raw {
	return changedPodStatus({ phase: "Running" }, shorthand, now);
}

/** The stored status with what the shorthand names changed; the rest stays. @param now RFC 3339. */
export function changedPodStatus(stored: Pod["status"], shorthand: PodStatusShorthand, now: string): Raw {
	const { ip, ips = ip === undefined ? undefined : [ip], phase, reason, containerStatuses } = shorthand;
	return {
		...stored,
		...(phase === undefined ? {} : { phase }),
		...(ips === undefined ? {} : { podIP: ips[0], podIPs: ips.map((each) => ({ ip: each })) }),
		...(reason === undefined ? {} : { reason }),
		conditions: conditions(stored?.conditions ?? [], shorthand, now),
		...(containerStatuses === undefined
			? {}
			: { containerStatuses: containerStatuses.map((status) => containerStatus(status, now)) }),
	};
}

function conditions(
	stored: readonly Condition[],
	{ ready, conditions: more = [] }: PodStatusShorthand,
	now: string,
): readonly Condition[] {
	const named: readonly Condition[] = [
		...(ready === undefined ? [] : [{ type: "Ready", status: ready ? "True" : "False" }]),
		...more,
	];
	const kept = stored.filter(({ type }) => !named.some((condition) => condition.type === type));
	const changed = named.map((condition) => {
		const before = stored.find(({ type }) => type === condition.type);
		const isSame = before !== undefined && before.status === condition.status;
		return { lastTransitionTime: isSame ? before.lastTransitionTime : now, ...condition };
	});
	return [...kept, ...changed];
}

function containerStatus(
	{ name, ready = false, running, restartCount = 0 }: NonNullable<PodStatusShorthand["containerStatuses"]>[number],
	now: string,
): Raw {
	return {
		name,
		ready,
		restartCount,
		image: "registry.example/app:1",
		imageID: "",
		...(running === true ? { state: { running: { startedAt: now } } } : {}),
	};
}
