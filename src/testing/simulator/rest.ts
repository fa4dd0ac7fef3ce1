/** What must hold when nothing happens any more. */
import { controllerOf, keyOf } from "../../api/resource.ts";
import { IP_ADDRESSES, PODS, REPLICA_SETS, SERVICES } from "../../api/resource-names.ts";
import type { ScenarioPlane } from "../../scenario/plane/scenario-plane.ts";
import { sliceProblems } from "../slice-problems.ts";
import { completeNodes, finishPods } from "./cluster-changes.ts";
import type { FaultSchedule } from "./fault-schedule.ts";
import type { User } from "./user.ts";
import type { PromiseName, Verdict } from "./verdict.ts";
import type { Watchers } from "./watchers.ts";

export interface RestPorts {
	readonly plane: ScenarioPlane;
	readonly user: User;
	readonly faults: FaultSchedule;
	readonly watchers: Watchers;
	readonly verdict: Verdict;
	readonly endpointsPerSliceMax: number;
	/** Commits so far, Events left out. */
	commits(): number;
}

/** Minutes of virtual time, so that also what has failed often is tried again. */
const MINUTES_MAX = 30;

/** Ends all faults, waits until the plane has come to rest, and looks at everything. */
export async function checkAtRest(ports: RestPorts): Promise<void> {
	const { faults, watchers, verdict, user } = ports;
	await faults.endAll();
	await completeNodes(user);
	if (!(await comesToRest(ports))) return;
	watchers.drain();
	const services = new Set([...user.ports.tampering.excused, ...givenUp(ports)]);
	await checkState(ports, "settled", { services, zones: true });
	if (verdict.isBroken) return;
	if (!(await restarted(ports))) return;
	await checkState(ports, "restarted");
	const before = ports.commits();
	if (!(await restarted(ports))) return;
	const written = ports.commits() - before;
	if (written > 0) verdict.broke("idle", `controllers that start over what is right wrote ${written} times`);
	watchers.drain();
}

/** Keys that failed too often, such as while a node was gone, wait for their next event, as in upstream. */
function givenUp({ plane }: RestPorts): readonly string[] {
	const lines = plane.controllers.log.lines.filter(({ text }) => text.includes("was given up"));
	return lines.map(({ text }) => /"key":"([^"]+)"/.exec(text)?.[1] ?? "");
}

async function comesToRest({ plane, user, verdict }: RestPorts): Promise<boolean> {
	for (let minutes = 0; minutes < MINUTES_MAX; minutes++) {
		await finishPods(user);
		if (await plane.settle(false)) return true;
	}
	const logged = plane.components.map(({ log }) => log.lines.at(-1)?.text ?? "");
	verdict.broke("restful", `after ${MINUTES_MAX} minutes: ${plane.unsettled()}; ${logged.join("; ")}`);
	return false;
}

async function restarted(ports: RestPorts): Promise<boolean> {
	for (const component of ports.plane.components) await ports.faults.restart(component);
	return comesToRest(ports);
}

async function checkState(
	{ plane, user, verdict, endpointsPerSliceMax }: RestPorts,
	promise: PromiseName,
	excuses?: { readonly services: ReadonlySet<string>; readonly zones: boolean },
): Promise<void> {
	const problems = [
		...(await sliceProblems(plane.server.client, endpointsPerSliceMax, excuses)),
		...podProblems(user),
		...claimProblems(user),
	];
	for (const problem of problems) verdict.broke(promise, problem);
}

/** Each ReplicaSet has the Pods that it is to have. */
function podProblems(user: User): readonly string[] {
	return user.all(REPLICA_SETS).flatMap((set) => {
		if (set.metadata.deletionTimestamp !== undefined) return [];
		const active = user
			.all(PODS)
			.filter((pod) => controllerOf(pod)?.uid === set.metadata.uid)
			.filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !hasEnded(status?.phase));
		const { replicas = 1 } = set.spec;
		return active.length === replicas ? [] : [`ReplicaSet ${keyOf(set)}: ${active.length} Pods, want ${replicas}`];
	});
}

function hasEnded(phase: string | undefined): boolean {
	return phase === "Failed" || phase === "Succeeded";
}

/** An address is claimed as long as its Service has it. */
function claimProblems(user: User): readonly string[] {
	const ips = user.all(SERVICES).flatMap(({ spec }) => (spec.clusterIPs ?? []).filter((ip) => ip !== "None"));
	const claimed = new Set(user.all(IP_ADDRESSES).map(({ metadata }) => metadata.name));
	const missing = ips.filter((ip) => !claimed.has(ip));
	const left = [...claimed].filter((ip) => !ips.includes(ip));
	return [
		...missing.map((ip) => `cluster IP ${ip} is not claimed`),
		...left.map((ip) => `${ip} is claimed and no Service has it`),
	];
}
