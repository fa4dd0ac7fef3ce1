import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { parseManifests } from "../edge/codec/yaml.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { controllersRefusalTeller, ENDPOINT_CONTROLLERS, MANIFEST_RIGHTS } from "./controller-rights.ts";

interface Rule {
	readonly apiGroups: readonly string[];
	readonly resources: readonly string[];
	readonly verbs: readonly string[];
}

async function manifest() {
	const parsed = await parseManifests(readFileSync("deploy/controllers.yaml", "utf8"));
	if (parsed.kind === "malformed") throw new Error(parsed.message);
	return parsed.documents.map(({ value }) => value);
}

test("the rights that are known are those of the roles in deploy/controllers.yaml", async () => {
	const given = new Map<string, Set<string>>();
	for (const { rules } of await manifest()) {
		for (const { apiGroups, resources, verbs } of (rules ?? []) as readonly Rule[]) {
			for (const plural of resources) {
				const resource = apiGroups[0] === "" ? plural : `${plural}.${apiGroups[0]}`;
				given.set(resource, new Set([...(given.get(resource) ?? []), ...verbs]));
			}
		}
	}
	const sorted = [...given].map(([resource, verbs]) => [resource, [...verbs].sort()]);
	expect(Object.fromEntries(sorted)).toEqual(MANIFEST_RIGHTS);
});

test("the controllers that it is for are those that its Deployment runs", async () => {
	const deployment = (await manifest()).find(({ kind }) => kind === "Deployment");
	expect(JSON.stringify(deployment)).toContain(`"--controllers=${ENDPOINT_CONTROLLERS.join()}"`);
});

const refusal = (verb: string, plural: string, group = ""): ApiError =>
	new ApiError(
		"Forbidden",
		`${plural} is forbidden: User "u" cannot ${verb} resource "${plural}" in API group "${group}" at the cluster scope`,
	);

function telling() {
	const clock = new VirtualClock();
	const stopping = new AbortController();
	const told: string[] = [];
	return { clock, stopping, told, teller: controllersRefusalTeller(clock, stopping.signal, (line) => told.push(line)) };
}

test("what other controllers lack is told once, together, with why and what to do", async () => {
	const { clock, told, teller } = telling();
	for (const plural of ["replicasets", "deployments", "replicasets"]) teller(refusal("list", plural, "apps"));
	teller(refusal("delete", "pods"));
	expect(told).toEqual([]);
	await clock.advance(1_000);
	expect(told).toEqual([
		'not allowed: User "u" cannot list deployments.apps, replicasets.apps; nor delete pods: deploy/controllers.yaml is for the ' +
			"controllers of endpoints, and others run here; docs/attach.md says what these need, --controllers=" +
			"endpointslice-controller,endpointslice-mirroring-controller,endpoints-controller leaves them out",
	]);
	teller(refusal("list", "deployments", "apps"));
	await clock.advance(60_000);
	expect(told).toHaveLength(1);
});

test("what the manifest gives is told at once, with the manifest", () => {
	const { told, teller } = telling();
	teller(refusal("list", "pods"));
	teller(refusal("get", "leases", "coordination.k8s.io"));
	expect(told).toEqual([
		expect.stringMatching(/cannot list resource "pods".*; what controllers needs is in deploy\/controllers\.yaml$/),
		expect.stringMatching(/cannot get resource "leases".*; what controllers needs is in deploy\/controllers\.yaml$/),
	]);
});

test("what is still to be told at the end is told then", async () => {
	const { clock, stopping, told, teller } = telling();
	teller(refusal("list", "namespaces"));
	stopping.abort();
	await clock.settle();
	expect(told).toEqual([expect.stringContaining("cannot list namespaces: ")]);
});
