/** What planning a Service's network needs, and what it answers. */
import type { Random } from "../../kernel/random.ts";
import type { FieldError } from "../field-error.ts";
import type { CIDR } from "../ip.ts";
import type { Service } from "../types/core.ts";

/** Both ends belong to the range. */
export interface NodePortRange {
	readonly first: number;
	readonly last: number;
}

export interface ServiceNetworkInput {
	/** With defaults, and prepared for creation or update. */
	readonly service: Service;
	/** What the write replaces, with defaults. Absent on create. */
	readonly stored?: Service | undefined;
	/** One range, or two of different families; the first is the primary one. */
	readonly ranges: readonly CIDR[];
	readonly nodePortRange: NodePortRange;
	/** Asked with the canonical text of an address. */
	readonly isIPTaken: (ip: string) => boolean;
	readonly isNodePortTaken: (port: number) => boolean;
	readonly random: Random;
	/** Made-up values in place of allocated ones. */
	readonly isDryRun?: boolean;
}

/** Addresses in canonical form, and node ports, none of them twice. */
export interface Holdings {
	readonly ips: readonly string[];
	readonly nodePorts: readonly number[];
}

export type Refusal =
	/** 422. */
	| { readonly kind: "invalid"; readonly errors: readonly FieldError[] }
	/** 500, InternalError: nothing is left to give. */
	| { readonly kind: "full"; readonly message: string }
	/** 500 without a reason: what a real server answers to a few wishes that cannot be met. */
	| { readonly kind: "failed"; readonly message: string };

export type Step = { readonly kind: "ok"; readonly service: Service } | Refusal;
