/** `autoscaling/v1` Scale: the size of a workload, whatever its kind. */
import type { KubeObject } from "./meta.ts";

export interface Scale extends KubeObject {
	readonly spec?: { readonly replicas?: number };
	readonly status?: { readonly replicas: number; readonly selector?: string };
}
