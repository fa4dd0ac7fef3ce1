/** `networking.k8s.io/v1`: which object holds an address of the service range. */
import type { KubeObject } from "./meta.ts";

export interface IPAddress extends KubeObject {
	readonly spec: {
		readonly parentRef?: {
			/** "" is the core group. */
			readonly group?: string;
			readonly resource?: string;
			readonly namespace?: string;
			readonly name?: string;
		};
	};
}
