/** What users do, and how often. */
import { changeDeployment, changeNamespace, changeNode } from "./cluster-changes.ts";
import { changeEndpoints, changeSlice, createSlice } from "./endpoint-changes.ts";
import { createPod, deletePod, relabelPod, reportPod } from "./pod-changes.ts";
import { tryRefused } from "./refused-changes.ts";
import { changeService, createService, deleteService } from "./service-changes.ts";
import type { User } from "./user.ts";

interface Operation {
	readonly weight: number;
	/** Whether others may write at the same time. */
	readonly isShared?: boolean;
	act(user: User): Promise<void>;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
	createPod: { weight: 14, isShared: true, act: createPod },
	deletePod: { weight: 10, isShared: true, act: deletePod },
	relabelPod: { weight: 6, isShared: true, act: relabelPod },
	reportPod: { weight: 18, isShared: true, act: reportPod },
	createService: { weight: 10, isShared: true, act: createService },
	changeService: { weight: 14, isShared: true, act: changeService },
	deleteService: { weight: 5, isShared: true, act: deleteService },
	changeEndpoints: { weight: 6, act: changeEndpoints },
	createSlice: { weight: 1, act: createSlice },
	changeSlice: { weight: 6, act: changeSlice },
	changeNode: { weight: 4, act: changeNode },
	changeNamespace: { weight: 1, act: changeNamespace },
	changeDeployment: { weight: 5, act: changeDeployment },
	tryRefused: { weight: 4, act: tryRefused },
};

const WEIGHTS: Readonly<Record<string, number>> = Object.fromEntries(
	Object.entries(OPERATIONS).map(([name, { weight }]) => [name, weight]),
);

/** One operation, or a few at once. */
export async function operate(user: User): Promise<void> {
	const { dice } = user;
	const count = dice.chance(0.15) ? 2 + dice.below(3) : 1;
	const chosen = Array.from({ length: count }, () => OPERATIONS[dice.weighted(WEIGHTS)] as Operation);
	if (count === 1) await chosen[0]?.act(user);
	else await Promise.all(chosen.filter(({ isShared }) => isShared === true).map(({ act }) => act(user)));
}
