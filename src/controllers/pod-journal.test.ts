import { afterEach, describe, expect, test } from "vitest";
import { PODS, SERVICES } from "../api/resource-names.ts";
import { pod, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { PodJournal } from "./pod-journal.ts";
import { ServicePods } from "./service-pods.ts";

const web = service("web");
const next = (name: string, labels = { app: "web" }) => pod(name, { labels, metadata: { resourceVersion: "2" } });

let harness: ControllerHarness;
afterEach(() => harness.stop());

async function journal(isListening = true): Promise<PodJournal> {
	harness = new ControllerHarness();
	harness.client.serve(SERVICES, [web]);
	harness.client.serve(PODS, [pod("a"), pod("b"), pod("c", { labels: { app: "other" } })]);
	const [services, pods] = [harness.informers.of(SERVICES), harness.informers.of(PODS)];
	const made = new PodJournal(new ServicePods(services, pods), pods);
	if (isListening) made.listen();
	await harness.start({ run: () => Promise.resolve() });
	return made;
}

/** `all a b`, or `changed a; gone b`. */
function taken(from: PodJournal, of = web): string {
	const names = (pods: readonly { readonly metadata: { readonly name: string } }[]): string =>
		pods.map(({ metadata }) => metadata.name).join(" ");
	const changes = from.take(of);
	if (changes.kind === "all") return `all ${names(changes.pods)}`;
	return `changed ${names(changes.changed)}; gone ${changes.gone.join(" ")}`;
}

describe("PodJournal", () => {
	test("tells all Pods the first time, then only what changed since, once", async () => {
		const made = await journal();
		expect(taken(made)).toBe("all a b");
		harness.client.send(PODS, { type: "MODIFIED", object: next("b") }, { type: "ADDED", object: pod("d") });
		await harness.clock.settle();
		expect(taken(made)).toBe("changed b d; gone ");
		expect(taken(made)).toBe("changed ; gone ");
	});

	test("a Pod that is deleted or no longer selected is gone, one that is selected now has changed", async () => {
		const made = await journal();
		taken(made);
		harness.client.send(
			PODS,
			{ type: "DELETED", object: next("a") },
			{ type: "MODIFIED", object: next("b", { app: "other" }) },
			{ type: "MODIFIED", object: next("c") },
		);
		await harness.clock.settle();
		expect(taken(made)).toBe("changed c; gone a b");
	});

	test("starts from all Pods for another object of the Service, and after it was told to forget", async () => {
		const made = await journal();
		taken(made);
		expect(taken(made, service("web", {}, { resourceVersion: "2" }))).toBe("all a b");
		made.forgetAll();
		expect(taken(made)).toBe("all a b");
		made.forget("default/web");
		expect(taken(made)).toBe("all a b");
	});

	test("tells all Pods every time when it does not listen", async () => {
		const made = await journal(false);
		expect([taken(made), taken(made)]).toEqual(["all a b", "all a b"]);
	});
});
