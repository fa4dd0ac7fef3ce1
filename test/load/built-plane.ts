/** The built plane in this process, so that its data plane has a thread of its own, and options that no flag sets. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PODS } from "../../src/api/resource-names.ts";
import type { Pod } from "../../src/api/types/core.ts";
import type { HttpClient } from "../../src/edge/http-client.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import type { PlaneOptions } from "../../src/wiring/plane-options.ts";
import type { Plane, PlaneGateway } from "../../src/wiring/start-plane.ts";
import { eventually } from "../e2e/plane.ts";

const BUILT = new URL("../../dist/wiring/start-plane.js", import.meta.url);

export class BuiltPlane {
	readonly plane: Plane;
	readonly client: HttpClient;
	readonly #folder: string;

	private constructor(plane: Plane, client: HttpClient, folder: string) {
		this.plane = plane;
		this.client = client;
		this.#folder = folder;
	}

	get gateway(): PlaneGateway {
		if (this.plane.gateway === undefined) throw new Error("this plane has no gateway");
		return this.plane.gateway;
	}

	static async start(options: Partial<PlaneOptions> = {}): Promise<BuiltPlane> {
		const { startPlane }: typeof import("../../src/wiring/start-plane.ts") = await import(BUILT.href);
		const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-"));
		const kubeconfig = path.join(folder, "kubeconfig");
		const plane = await startPlane({ listen: { host: "127.0.0.1", port: 0 }, kubeconfig, ...options });
		return new BuiltPlane(plane, await clusterClient({ kubeconfig }), folder);
	}

	async stop(): Promise<void> {
		this.client.close();
		await this.plane.stop();
		rmSync(this.#folder, { recursive: true, force: true });
	}

	apply(...objects: readonly object[]): Promise<void> {
		// JSON is YAML.
		const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
		return this.plane.apply("test", text, () => undefined);
	}

	async pods(labelSelector: string): Promise<readonly Pod[]> {
		return (await this.client.list(PODS, { namespace: "default", labelSelector })).items;
	}

	/** Resolves when there are so many Pods of the image, all Ready, and no others. */
	async rolledOut(labelSelector: string, image: string, count: number): Promise<void> {
		const isDone = (pods: readonly Pod[]): boolean => pods.length === count && pods.every((pod) => isRight(pod, image));
		await eventually(() => this.pods(labelSelector), isDone, {
			withinMs: 120_000,
			what: `${image} was not rolled out`,
		});
	}
}

function isRight({ metadata, spec, status }: Pod, image: string): boolean {
	const isReady = (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
	return metadata.deletionTimestamp === undefined && spec.containers[0]?.image === image && isReady;
}
