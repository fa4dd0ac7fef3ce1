/** What the plane and the processes in its network namespaces say to each other. */
import type { Transport } from "../dns/answer.ts";
import type { EchoPod } from "../edge/echo-pod.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import type { ServedService } from "../plan/service-map/served-service.ts";
import type { ServiceTable } from "../plan/service-map/service-table.ts";
import type { Changes } from "./data-plane-messages.ts";

/** One node's, or that of the bridge. */
export type NodeAgentConfig =
	| { readonly kind: "node" /** Of the node itself. */; readonly addresses: readonly string[] }
	| {
			readonly kind: "lan";
			/** Where it listens. */
			readonly addresses: readonly string[];
			readonly clusterDomain: string;
			/** Ranges whose addresses are never asked of others. */
			readonly ranges: readonly string[];
			readonly hasUpstreams: boolean;
			/** Connections to `port` of its addresses go to the socket. */
			readonly api: { readonly port: number; readonly socket: string };
	  };

/** `id`: it is told when the message is carried out. */
export type ToNodeAgent =
	| { readonly kind: "start"; readonly config: NodeAgentConfig }
	| { readonly kind: "pods"; readonly id: number; readonly pods: Changes<EchoPod> }
	/** Tables of Services with a health check node port. */
	| { readonly kind: "tables"; readonly id: number; readonly tables: Changes<ServiceTable> }
	| {
			readonly kind: "zone";
			readonly id: number;
			readonly services: Changes<ServedService>;
			readonly namespaces: Changes<string>;
	  }
	/** undefined: nobody answers. */
	| { readonly kind: "relayed"; readonly relay: number; readonly answer: Uint8Array | undefined };

export type FromNodeAgent =
	| { readonly kind: "ready" }
	/** It cannot work, and why. */
	| { readonly kind: "failed"; readonly message: string }
	| { readonly kind: "done"; readonly id: number }
	| { readonly kind: "answered"; readonly requests: readonly AnsweredRequest[] }
	/** A question to DNS servers outside. */
	| { readonly kind: "relay"; readonly relay: number; readonly packet: Uint8Array; readonly transport: Transport }
	| {
			readonly kind: "log";
			readonly level: "debug" | "info" | "warn" | "error";
			readonly message: string;
			readonly fields: Readonly<Record<string, unknown>>;
	  };
