/** Commands of golden files about planners: they build a world, `plan` prints the plan, `apply` carries it out. */
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { assertDefined } from "../kernel/assert.ts";
import { deepFreeze } from "../kernel/json.ts";
import { planEndpoints } from "../plan/endpoints/plan-endpoints.ts";
import { renderEndpointsPlan } from "../plan/endpoints/render.ts";
import { endpointOf } from "../plan/endpointslice/endpoint.ts";
import { type HintsMemory, NO_HINTS } from "../plan/endpointslice/hints.ts";
import { planEndpointSlices } from "../plan/endpointslice/plan-slices.ts";
import { portsOf } from "../plan/endpointslice/port-group.ts";
import { renderSlicePlan } from "../plan/endpointslice/render.ts";
import { newSlice } from "../plan/endpointslice/slice-metadata.ts";
import { zoneRatiosOf } from "../plan/endpointslice/zone-ratios.ts";
import { planMirror } from "../plan/mirroring/plan-mirror.ts";
import { renderMirrorPlan } from "../plan/mirroring/render.ts";
import { meta } from "./builders.ts";
import { applied, stored } from "./slice-worlds.ts";
import { metadataOf, namesIn, nodeOf, podOf, podsOf, serviceOf, subsetOf, type Words, wordsOf } from "./world-words.ts";

/** Endpoints shown of a longer list: enough to see who is there, few enough to read. */
const SHOWN_MAX = 12;

/** Everything that planners look at. */
interface World {
	service: Service | undefined;
	endpoints: Endpoints | undefined;
	slices: readonly EndpointSlice[];
	hintsMemory: HintsMemory;
	/** Endpoints per slice, or addresses mirrored per subset. */
	max: number;
	readonly pods: Map<string, Pod>;
	readonly nodes: Map<string, Node>;
}

interface Planned {
	readonly text: string;
	apply(): void;
}

type Planner = (world: World) => Planned;

const PLANNERS: Readonly<Record<PlannerName, Planner>> = {
	endpointslice: planSlices,
	endpoints: planOneEndpoints,
	mirroring: planMirrored,
};

export type PlannerName = "endpointslice" | "endpoints" | "mirroring";

/** Runs commands one after the other; each gives what it prints. */
export function plannerConsole(planner: PlannerName): (command: string) => string {
	const world: World = {
		service: undefined,
		endpoints: undefined,
		slices: [],
		hintsMemory: NO_HINTS,
		max: planner === "endpointslice" ? 100 : 1000,
		pods: new Map(),
		nodes: new Map(),
	};
	return (command) => {
		const lines = command.split("\n").map(wordsOf);
		return lines
			.map((words) => run(world, PLANNERS[planner], words))
			.join("\n")
			.trim();
	};
}

function run(world: World, planner: Planner, words: Words): string {
	const [verb = ""] = words.plain;
	if (verb === "plan") return planner(world).text || "nothing to write";
	if (verb === "apply") planner(world).apply();
	else assertDefined(CHANGES[verb], `a command named ${verb}`)(world, words);
	return "";
}

const CHANGES: Readonly<Record<string, (world: World, words: Words) => void>> = {
	service(world, words) {
		world.service = serviceOf(words);
	},
	pod: (world, words) => put(world.pods, [podOf(words)]),
	pods: (world, words) => put(world.pods, podsOf(words)),
	node: (world, words) => put(world.nodes, [nodeOf(words)]),
	max(world, { plain }) {
		world.max = Number(plain[1]);
	},
	/** `slice NAME PODS`: as the controller would have written it. */
	slice(world, { plain: [, name = "", range = ""] }) {
		world.slices = [...world.slices, sliceOf(world, name, namesIn(range))];
	},
	endpoints(world, words) {
		const [, name = ""] = words.plain;
		const metadata = meta(name, metadataOf(words));
		world.endpoints = deepFreeze({ apiVersion: "v1", kind: "Endpoints", metadata });
	},
	/** Of the Endpoints above. */
	subset(world, words) {
		const endpoints = assertDefined(world.endpoints, "Endpoints above the subset");
		world.endpoints = deepFreeze({ ...endpoints, subsets: [...(endpoints.subsets ?? []), subsetOf(words)] });
	},
	/** `delete service`, `delete node NAME`, `delete pods p01..p10`. */
	delete(world, { plain: [, what, names = ""] }) {
		if (what === "service") world.service = undefined;
		for (const name of namesIn(names)) (what === "node" ? world.nodes : world.pods).delete(name);
	},
};

function put<T extends Pod | Node>(map: Map<string, T>, objects: readonly T[]): void {
	for (const object of objects) map.set(object.metadata.name, deepFreeze(object));
}

function theService({ service }: World): Service {
	return assertDefined(service, "a Service");
}

function sliceOf(world: World, name: string, names: readonly string[]): EndpointSlice {
	const service = theService(world);
	const pods = names.map((pod) => assertDefined(world.pods.get(pod), `pod ${pod}`));
	const endpoints = pods.map((pod) => {
		const node = world.nodes.get(pod.spec.nodeName ?? "");
		return assertDefined(endpointOf(pod, service, { node, family: "IPv4" }), `an address of ${pod.metadata.name}`);
	});
	const [first] = pods;
	const ports = first === undefined ? [] : portsOf(first, service);
	return stored(newSlice(service, "IPv4", { endpoints, ports }), name);
}

function planSlices(world: World): Planned {
	const { nodes, slices: existing, hintsMemory } = world;
	const ratios = zoneRatiosOf([...nodes.values()]);
	const plan = planEndpointSlices(
		{ service: theService(world), pods: [...world.pods.values()], nodes, existing, ratios, hintsMemory },
		{ endpointsPerSliceMax: world.max },
	);
	return {
		text: renderSlicePlan(plan, SHOWN_MAX),
		apply() {
			world.slices = applied(existing, plan);
			world.hintsMemory = plan.hintsMemory;
		},
	};
}

function planOneEndpoints(world: World): Planned {
	const plan = planEndpoints({ service: world.service, pods: [...world.pods.values()], existing: world.endpoints });
	return {
		text: renderEndpointsPlan(plan, SHOWN_MAX),
		apply() {
			if (plan.kind === "delete") world.endpoints = undefined;
			if (plan.kind === "update") world.endpoints = plan.endpoints;
			if (plan.kind !== "create") return;
			const metadata = { ...meta(theService(world).metadata.name), ...plan.endpoints.metadata };
			world.endpoints = deepFreeze({ ...plan.endpoints, apiVersion: "v1", kind: "Endpoints", metadata });
		},
	};
}

function planMirrored(world: World): Planned {
	const endpoints = assertDefined(world.endpoints, "Endpoints");
	const plan = planMirror({ endpoints, existing: world.slices }, { addressesPerSubsetMax: world.max });
	return {
		text: renderMirrorPlan(plan, SHOWN_MAX),
		apply() {
			world.slices = applied(world.slices, { families: [plan], unsupported: [] });
		},
	};
}
