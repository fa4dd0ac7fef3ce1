import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOf } from "../api/resource.ts";
import { PODS, SERVICES } from "../api/resource-names.ts";
import { Informers } from "../machinery/informers.ts";
import { matchesSelector, selectedPods, selectorOf } from "../plan/service-selector.ts";
import { meta, pod, service } from "../testing/builders.ts";
import { RecordingClient } from "../testing/recording-client.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { ServicePods } from "./service-pods.ts";

const labels = fc.dictionary(fc.constantFrom("app", "tier", "constructor"), fc.constantFrom("a", "b"), { maxKeys: 3 });
const namespace = fc.constantFrom("ns1", "ns2");

test("the indexes find what a scan of everything finds", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.tuple(namespace, labels), { maxLength: 8 }),
			fc.array(fc.tuple(namespace, labels), { maxLength: 8 }),
			async (podRows, serviceRows) => {
				const pods = podRows.map(([ns, l], i) =>
					pod(`p${i}`, { metadata: meta(`p${i}`, { namespace: ns, labels: l }) }),
				);
				const services = serviceRows.map(([ns, selector], i) => service(`s${i}`, { selector }, { namespace: ns }));
				const client = new RecordingClient();
				client.serve(PODS, pods);
				client.serve(SERVICES, services);
				const informers = new Informers({
					client,
					clock: new VirtualClock(),
					random: new SeededRandom(1),
					log: silentLogger,
				});
				const both = new ServicePods(informers.of(SERVICES), informers.of(PODS));
				const stop = new AbortController();
				void informers.run(stop.signal);
				await informers.whenSynced(stop.signal);
				stop.abort();

				for (const of of services)
					expect(both.podsOf(of).map(keyOf).sort()).toEqual(selectedPods(pods, of).map(keyOf).sort());
				for (const { metadata } of pods) {
					const scanned = services.filter((s) => {
						const selector = selectorOf(s);
						const isHere = s.metadata.namespace === metadata.namespace;
						return isHere && selector !== undefined && matchesSelector(selector, metadata.labels);
					});
					const found = both.servicesOf(metadata.namespace ?? "", metadata.labels ?? {});
					expect(found.map(keyOf).sort()).toEqual(scanned.map(keyOf).sort());
				}
			},
		),
		{ numRuns: 50 },
	);
});
