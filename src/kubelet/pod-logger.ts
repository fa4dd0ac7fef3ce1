/** Writes what simulated containers print: that they started, what they answered, how they ended. */
import type { Container, Pod } from "../api/types/core.ts";
import type { ContainerLogs } from "../machinery/container-logs.ts";
import type { Stage } from "../plan/pod-lifecycle/stage.ts";

/** What a container without a process prints when it starts. */
export function startedText(podIPs: readonly string[]): string {
	return `started, answers on every port of ${podIPs.join(" and ")}`;
}

export class PodLogger {
	readonly #logs: ContainerLogs;
	/** By uid, the stage that the log has come to. */
	readonly #told = new Map<string, Stage["kind"]>();

	constructor(logs: ContainerLogs) {
		this.#logs = logs;
	}

	/** The Pod is in this stage now. `isSimulated`: no process prints anything itself. */
	at({ metadata, spec }: Pod, podIPs: readonly string[], stage: Stage, isSimulated = true): void {
		const told = this.#told.get(metadata.uid) ?? "starting";
		if (told === stage.kind) return;
		this.#told.set(metadata.uid, stage.kind);
		const { startedMs } = stage.kind === "starting" ? {} : stage;
		if (isSimulated && told === "starting" && startedMs !== undefined) {
			this.#toAll(metadata.uid, spec.containers, startedMs, startedText(podIPs));
		}
		if (stage.kind !== "ended") return;
		if (isSimulated && startedMs !== undefined) {
			this.#toAll(metadata.uid, spec.containers, stage.endedMs, `ended with exit code ${stage.exitCode}`);
		}
		this.#logs.end(metadata.uid);
	}

	/** The Pod answered a request on a port: the container that names the port did, else the first one. */
	answered({ metadata, spec }: Pod, port: number, atMs: number, text: string): void {
		const owner = spec.containers.find(({ ports = [] }) => ports.some(({ containerPort }) => containerPort === port));
		const container = owner ?? spec.containers[0];
		if (container !== undefined) this.#logs.append(metadata.uid, container.name, { atMs, text });
	}

	forget(uid: string): void {
		this.#told.delete(uid);
		this.#logs.forget(uid);
	}

	#toAll(uid: string, containers: readonly Container[], atMs: number, text: string): void {
		for (const { name } of containers) this.#logs.append(uid, name, { atMs, text });
	}
}
