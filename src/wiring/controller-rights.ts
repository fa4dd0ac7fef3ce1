/**
 * What controllers are not allowed to do, told apart: rights of the manifest in deploy/, which somebody has taken away or not
 * given yet, and those of controllers that the manifest is not for, told together with what to do.
 */
import type { ApiError } from "../api/status.ts";
import type { Clock } from "../kernel/clock.ts";
import { type MissingRight, missingRight, onStderr, refusalTeller } from "./refused-rights.ts";

/** What Services need, and nothing that deletes: those that deploy/controllers.yaml is for. */
export const ENDPOINT_CONTROLLERS: readonly string[] = [
	"endpointslice-controller",
	"endpointslice-mirroring-controller",
	"endpoints-controller",
];

/** The rights of that manifest, by resource and group. */
export const MANIFEST_RIGHTS: Readonly<Record<string, readonly string[]>> = {
	nodes: ["list", "watch"],
	pods: ["list", "watch"],
	services: ["list", "watch"],
	endpoints: ["create", "delete", "list", "update", "watch"],
	"endpointslices.discovery.k8s.io": ["create", "delete", "list", "update", "watch"],
	events: ["create", "patch"],
	"leases.coordination.k8s.io": ["create", "get", "update"],
};

/** What is missing at a start comes all at once. */
const GATHERED_MS = 1_000;
/** More different rights than all controllers need. */
const RIGHTS_MAX = 200;

/** @param signal Ends the wait for more, not the telling. */
export function controllersRefusalTeller(
	clock: Clock,
	signal: AbortSignal,
	tell: (line: string) => void = onStderr,
): (error: ApiError) => void {
	const ofManifest = refusalTeller("controllers", tell);
	const known = new Set<string>();
	let gathered: MissingRight[] = [];
	const tellGathered = (): void => {
		tell(lackingText(gathered));
		gathered = [];
	};
	return (error) => {
		const right = missingRight(error.message);
		if (right === undefined || isInManifest(right)) return ofManifest(error);
		if (known.has(right.key) || known.size >= RIGHTS_MAX) return;
		known.add(right.key);
		gathered.push(right);
		if (gathered.length === 1) void clock.sleep(GATHERED_MS, signal).then(tellGathered, tellGathered);
	};
}

function isInManifest({ verb, resource }: MissingRight): boolean {
	return MANIFEST_RIGHTS[resource]?.includes(verb) === true;
}

function lackingText(rights: readonly MissingRight[]): string {
	const verbs = [...new Set(rights.map(({ verb }) => verb))];
	const resources = (of: string): string =>
		rights
			.flatMap(({ verb, resource }) => (verb === of ? [resource] : []))
			.sort()
			.join(", ");
	const texts = verbs.map((verb) => `${verb} ${resources(verb)}`);
	return (
		`not allowed: User "${rights[0]?.user}" cannot ${texts.join("; nor ")}: deploy/controllers.yaml is for the controllers of endpoints, ` +
		`and others run here; docs/attach.md says what these need, --controllers=${ENDPOINT_CONTROLLERS.join()} leaves them out`
	);
}
