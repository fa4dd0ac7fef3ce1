/**
 * The messages of etcd's API that a store needs, and no field more. Field numbers are from etcd's `rpc.proto` and
 * `kv.proto`. Keys are text: every key of Kubernetes is.
 *
 * @see https://etcd.io/docs/v3.4/dev-guide/api_reference_v3/
 */
import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import { NO_BYTES } from "../../kernel/bytes.ts";
import { eachField, encoded, numberOf, type Read, read } from "./wire.ts";

/** One number for all that is in the cluster; below 2^53 for longer than there will be clusters. */
type Revision = number;

export interface Header {
	/** Another one after a restore. */
	readonly clusterId: bigint;
	readonly revision: Revision;
}

export interface KeyValue {
	readonly key: string;
	readonly value: Uint8Array;
	readonly createRevision: Revision;
	readonly modRevision: Revision;
	/** How often it was written since it was made. */
	readonly version: number;
	readonly lease: bigint;
}

export interface RangeRequest {
	readonly key: string;
	/** The first key behind the range; absent: one key. */
	readonly rangeEnd?: string;
	readonly limit?: number;
	/** Absent: the newest, for a read that nothing acknowledged before it can be missing from. */
	readonly revision?: Revision;
	readonly keysOnly?: boolean;
}

export interface RangeResponse {
	readonly header: Header;
	readonly kvs: readonly KeyValue[];
	readonly more: boolean;
}

export interface Compare {
	readonly key: string;
	readonly target: "mod" | "version";
	/** Zero holds where no key is. */
	readonly equals: number;
}

export type Op =
	| { readonly kind: "range"; readonly range: RangeRequest }
	| { readonly kind: "put"; readonly key: string; readonly value: Uint8Array; readonly lease?: bigint }
	| { readonly kind: "delete"; readonly key: string };

export interface TxnRequest {
	readonly compare: readonly Compare[];
	/** When all of `compare` holds. */
	readonly success: readonly Op[];
	readonly failure: readonly Op[];
}

export type OpResponse =
	| { readonly kind: "range"; readonly kvs: readonly KeyValue[] }
	| { readonly kind: "put" }
	| { readonly kind: "delete"; readonly deleted: number };

export interface TxnResponse {
	readonly header: Header;
	readonly succeeded: boolean;
	/** One for each op of the branch that was taken. */
	readonly responses: readonly OpResponse[];
}

export interface WatchCreateRequest {
	readonly key: string;
	readonly rangeEnd: string;
	readonly startRevision: Revision;
}

export interface WatchedEvent {
	readonly kind: "put" | "delete";
	readonly kv: KeyValue;
}

export interface WatchResponse {
	readonly header: Header;
	readonly isCanceled: boolean;
	/** Not 0: the watch wanted revisions that are compacted, up to this one. */
	readonly compactRevision: Revision;
	readonly cancelReason: string;
	/** More of the same response follows. */
	readonly isFragment: boolean;
	readonly events: readonly WatchedEvent[];
}

const TARGETS = { version: 0, mod: 2 } as const;
/** Where a Compare has the value that belongs to its target. */
const TARGET_FIELDS = { version: 4, mod: 6 } as const;

function writeRange(writer: BinaryWriter, { key, rangeEnd, limit, revision, keysOnly }: RangeRequest): void {
	const out = encoded(writer);
	out.text(1, key);
	if (rangeEnd !== undefined) out.text(2, rangeEnd);
	if (limit !== undefined) out.whole(3, limit);
	if (revision !== undefined) out.whole(4, revision);
	if (keysOnly === true) out.whole(8, 1);
}

function writeOp(writer: BinaryWriter, op: Op): void {
	const out = encoded(writer);
	switch (op.kind) {
		case "range":
			out.message(1, (inner) => writeRange(inner, op.range));
			return;
		case "put":
			out.message(2, (inner) => {
				const put = encoded(inner);
				put.text(1, op.key);
				put.bytes(2, op.value);
				if (op.lease !== undefined) put.whole(3, op.lease);
			});
			return;
		case "delete":
			out.message(3, (inner) => encoded(inner).text(1, op.key));
	}
}

export function encodeRangeRequest(request: RangeRequest): Uint8Array {
	return encoded().made((writer) => writeRange(writer, request));
}

export function encodeTxnRequest({ compare, success, failure }: TxnRequest): Uint8Array {
	return encoded().made((writer) => {
		const out = encoded(writer);
		for (const { key, target, equals } of compare) {
			// Field 1 says how to compare: its zero is "equal".
			out.message(1, (inner) => {
				const one = encoded(inner);
				one.whole(2, TARGETS[target]);
				one.text(3, key);
				one.whole(TARGET_FIELDS[target], equals);
			});
		}
		for (const op of success) out.message(2, (inner) => writeOp(inner, op));
		for (const op of failure) out.message(3, (inner) => writeOp(inner, op));
	});
}

/** All before this revision may be forgotten. */
export function encodeCompactionRequest(revision: Revision): Uint8Array {
	return encoded().made((writer) => encoded(writer).whole(1, revision));
}

/** Large responses come in fragments, so that none is too large for a message. */
export function encodeWatchRequest({ key, rangeEnd, startRevision }: WatchCreateRequest): Uint8Array {
	return encoded().made((writer) => {
		encoded(writer).message(1, (inner) => {
			const out = encoded(inner);
			out.text(1, key);
			out.text(2, rangeEnd);
			out.whole(3, startRevision);
			out.whole(8, 1);
		});
	});
}

export function encodeLeaseGrantRequest(ttlSeconds: number): Uint8Array {
	return encoded().made((writer) => encoded(writer).whole(1, ttlSeconds));
}

const NO_HEADER: Header = { clusterId: 0n, revision: 0 };

const readHeader: Read<Header> = (reader) => {
	let { clusterId, revision } = NO_HEADER;
	eachField(reader, {
		1: () => {
			clusterId = BigInt(reader.uint64());
		},
		3: () => {
			revision = numberOf(reader);
		},
	});
	return { clusterId, revision };
};

const readKeyValue: Read<KeyValue> = (reader) => {
	let [key, lease] = ["", 0n];
	let value = NO_BYTES;
	let [createRevision, modRevision, version] = [0, 0, 0];
	eachField(reader, {
		1: () => {
			key = reader.string();
		},
		2: () => {
			createRevision = numberOf(reader);
		},
		3: () => {
			modRevision = numberOf(reader);
		},
		4: () => {
			version = numberOf(reader);
		},
		5: () => {
			value = reader.bytes();
		},
		6: () => {
			lease = BigInt(reader.int64());
		},
	});
	return { key, value, createRevision, modRevision, version, lease };
};

const readRange: Read<RangeResponse> = (reader) => {
	let [header, more] = [NO_HEADER, false];
	const kvs: KeyValue[] = [];
	eachField(reader, {
		1: () => {
			header = read(reader, readHeader);
		},
		2: () => kvs.push(read(reader, readKeyValue)),
		3: () => {
			more = reader.bool();
		},
	});
	return { header, kvs, more };
};

const readOpResponse: Read<OpResponse> = (reader) => {
	let response: OpResponse = { kind: "put" };
	eachField(reader, {
		1: () => {
			response = { kind: "range", kvs: read(reader, readRange).kvs };
		},
		3: () => {
			let deleted = 0;
			read(reader, (inner) =>
				eachField(inner, {
					2: () => {
						deleted = numberOf(inner);
					},
				}),
			);
			response = { kind: "delete", deleted };
		},
	});
	return response;
};

const readEvent: Read<WatchedEvent> = (reader) => {
	let kind: WatchedEvent["kind"] = "put";
	let kv: KeyValue | undefined;
	eachField(reader, {
		1: () => {
			kind = reader.int32() === 1 ? "delete" : "put";
		},
		2: () => {
			kv = read(reader, readKeyValue);
		},
	});
	if (kv === undefined) throw new Error("etcd sent an event without a key");
	return { kind, kv };
};

export function decodeRangeResponse(bytes: Uint8Array): RangeResponse {
	return read(bytes, readRange);
}

export function decodeTxnResponse(bytes: Uint8Array): TxnResponse {
	return read(bytes, (reader) => {
		let [header, succeeded] = [NO_HEADER, false];
		const responses: OpResponse[] = [];
		eachField(reader, {
			1: () => {
				header = read(reader, readHeader);
			},
			2: () => {
				succeeded = reader.bool();
			},
			3: () => responses.push(read(reader, readOpResponse)),
		});
		return { header, succeeded, responses };
	});
}

export function decodeWatchResponse(bytes: Uint8Array): WatchResponse {
	return read(bytes, (reader) => {
		let [header, isCanceled, compactRevision] = [NO_HEADER, false, 0];
		let [cancelReason, isFragment] = ["", false];
		const events: WatchedEvent[] = [];
		eachField(reader, {
			1: () => {
				header = read(reader, readHeader);
			},
			4: () => {
				isCanceled = reader.bool();
			},
			5: () => {
				compactRevision = numberOf(reader);
			},
			6: () => {
				cancelReason = reader.string();
			},
			7: () => {
				isFragment = reader.bool();
			},
			11: () => events.push(read(reader, readEvent)),
		});
		return { header, isCanceled, compactRevision, cancelReason, isFragment, events };
	});
}

/** The lease's number: one of 63 bits. */
export function decodeLeaseGrantResponse(bytes: Uint8Array): bigint {
	return read(bytes, (reader) => {
		let lease = 0n;
		eachField(reader, {
			2: () => {
				lease = BigInt(reader.int64());
			},
		});
		return lease;
	});
}
