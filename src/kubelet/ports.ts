/** What a kubelet needs of the world around it to probe Pods, and to run them as processes. */
import type { Container, Pod } from "../api/types/core.ts";
import type { ProbeAction } from "../plan/pod-lifecycle/probe-spec.ts";

/** A probe over the network. */
export interface ProbeTarget {
	/** Of the Pod. */
	readonly ip: string;
	readonly action: Exclude<ProbeAction, { kind: "exec" | "broken" }>;
	readonly timeoutMs: number;
}

export interface ProbeOutcome {
	readonly isSuccess: boolean;
	/** Why it failed, in a kubelet's words. */
	readonly message: string;
}

export interface Prober {
	/** Resolves when connections to the Pod, by `namespace/name`, get there. Rejects when `signal` aborts first. */
	reachable(podKey: string, signal: AbortSignal): Promise<void>;
	/** Never rejects. `signal` aborts when the time is over, or nobody wants to know any more. */
	probe(target: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome>;
}

export interface ContainerStart {
	readonly pod: Pod;
	readonly container: Container;
	/** The primary family first. */
	readonly podIPs: readonly string[];
	readonly hostIPs: readonly string[];
	readonly ports: PortMap;
	/** Told each line that it prints. */
	output(text: string): void;
}

/** Ports of this machine, by those of the container. */
export type PortMap = Readonly<Record<number, number>>;

export interface ContainerExit {
	readonly exitCode: number;
	/** Instead of Completed or Error. */
	readonly reason?: string;
	readonly message?: string;
}

export interface RunningContainer {
	/** Resolves when it has ended, and everything that it printed was told. Never rejects. */
	readonly ended: Promise<ContainerExit>;
	stop(how: "SIGTERM" | "SIGKILL"): void;
	/** Runs a command beside it. Never rejects; `signal` ends the command. */
	exec(command: readonly string[], signal: AbortSignal): Promise<ProbeOutcome>;
}

/** Runs containers as something real. */
export interface ContainerRuntime {
	/** False: it is simulated. */
	runs(container: Container): boolean;
	/** Finds free ports; a container keeps them when it is started again. */
	ports(container: Container): Promise<PortMap>;
	start(start: ContainerStart): RunningContainer;
}
