/** Every step of the format, by its key. */
import type { Step, StepKey, StepValues } from "../format/steps.ts";
import { repeated } from "../objects/repeat.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import { type ScenarioRun, StepError } from "../run.ts";
import {
	affinityRecord,
	dropWatch,
	gc,
	holdReply,
	pause,
	proxySync,
	restart,
	restoreWatch,
	resume,
	start,
	stop,
} from "./components.ts";
import { applyObject, createObject, deleteObject, makeService, patchObject, putObject, storeRaw } from "./objects.ts";
import { adopt, deletePods, makePod, pod } from "./pods.ts";
import { http, save } from "./reads.ts";

/** `check` and `for_each` judge, which is their caller's to do. */
type Doable = Exclude<StepKey, "check" | "for_each">;

type Do<K extends StepKey> = (run: ScenarioRun, value: StepValues[K]) => Promise<void> | void;

const nothing = (): void => undefined;

const STEPS: { readonly [K in Doable]: Do<K> } = {
	settle,
	wait: (run, { max }) => {
		run.waitMs = max;
	},
	tick: ({ plane }, ms) => plane.clock.advance(ms),
	save,
	reset_counts: ({ plane }) => plane.counts.reset(),
	create: createObject,
	put: putObject,
	patch: patchObject,
	ssa: applyObject,
	delete: deleteObject,
	pod,
	pods_repeat: async (run, entry) => {
		for (const each of repeated(entry)) {
			await makePod(run, each);
			await adopt(run, each);
		}
	},
	services_repeat: async (run, entry) => {
		for (const each of repeated(entry)) await makeService(run, each);
	},
	delete_pods: deletePods,
	store_raw: storeRaw,
	lag: ({ plane }, { informer }) => plane.controllers.faults.lag(typeOfKind(informer)),
	release_lag: async ({ plane }) => {
		plane.controllers.faults.releaseLag();
		await plane.clock.settle();
	},
	hold_reply: holdReply,
	release_reply: async ({ plane }) => {
		plane.controllers.faults.releaseReply();
		await plane.clock.settle();
	},
	pause,
	resume,
	stop,
	start,
	restart,
	gc,
	http,
	fail_requests: ({ plane }, step) => plane.serverFaults.fail(step),
	compact: ({ plane }) => plane.server.store.view.compact(plane.server.store.revision),
	proxy_sync: proxySync,
	affinity_record: affinityRecord,
	drop_watch: dropWatch,
	restore_watch: restoreWatch,
	// Of DNS and the client library: what is expected of them is pending until they are built.
	stall_connection: nothing,
	client_informer: nothing,
	client_start: nothing,
	client_list: nothing,
	watch_client: nothing,
};

/** @throws {StepError} When the step cannot do what it says. */
export async function doStep(run: ScenarioRun, { key, value }: Extract<Step, { key: Doable }>): Promise<void> {
	// The key says of which type the value is: the file was read by that.
	const act = STEPS[key] as Do<Doable>;
	await act(run, value as never);
}

async function settle({ plane }: ScenarioRun, value: StepValues["settle"]): Promise<void> {
	if (await plane.settle(value !== true)) return;
	throw new StepError(`not settled within a minute: ${plane.unsettled()}`);
}
