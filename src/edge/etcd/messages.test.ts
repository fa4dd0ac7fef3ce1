import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import {
	decodeLeaseGrantResponse,
	decodeRangeResponse,
	decodeTxnResponse,
	decodeWatchResponse,
	encodeRangeRequest,
	encodeTxnRequest,
	encodeWatchRequest,
} from "./messages.ts";

type Wire = readonly (readonly [field: number, value: string | number | bigint | Wire])[];

function bytesOf(fields: Wire, writer = new BinaryWriter()): BinaryWriter {
	for (const [field, value] of fields) {
		if (typeof value === "string") writer.tag(field, WireType.LengthDelimited).string(value);
		else if (typeof value === "object") bytesOf(value, writer.tag(field, WireType.LengthDelimited).fork()).join();
		else writer.tag(field, WireType.Varint).int64(value);
	}
	return writer;
}

const wire = (fields: Wire): Uint8Array => bytesOf(fields).finish();

/** Fields by number, text as text where `shape` says no message is. */
function fieldsOf(bytes: Uint8Array, isMessage: (path: string) => boolean, path = ""): unknown {
	const reader = new BinaryReader(bytes);
	const fields: unknown[] = [];
	while (reader.pos < reader.len) {
		const [field, type] = reader.tag();
		const at = `${path}/${field}`;
		if (type === WireType.Varint) fields.push([field, Number(reader.int64())]);
		else {
			const value = reader.bytes();
			fields.push([field, isMessage(at) ? fieldsOf(value, isMessage, at) : new TextDecoder().decode(value)]);
		}
	}
	return fields;
}

const HEADER: Wire = [
	[1, 7n],
	[2, 8],
	[3, 42],
	[4, 2],
];

describe("etcd's messages", () => {
	test("a range of keys at a revision", () => {
		const request = { key: "/a/", rangeEnd: "/a0", limit: 5, revision: 9, keysOnly: true };
		expect(fieldsOf(encodeRangeRequest(request), () => false)).toEqual([
			[1, "/a/"],
			[2, "/a0"],
			[3, 5],
			[4, 9],
			[8, 1],
		]);
		expect(fieldsOf(encodeRangeRequest({ key: "/a" }), () => false)).toEqual([[1, "/a"]]);
	});

	test("a transaction that compares also with zero, which is the revision of what is not there", () => {
		const request = encodeTxnRequest({
			compare: [
				{ key: "a", target: "mod", equals: 0 },
				{ key: "v", target: "version", equals: 3 },
			],
			success: [
				{ kind: "put", key: "a", value: new TextEncoder().encode("1"), lease: 5n },
				{ kind: "delete", key: "b" },
			],
			failure: [{ kind: "range", range: { key: "a", keysOnly: true } }],
		});
		const isMessage = (path: string): boolean => ["/1", "/2", "/3", "/2/2", "/2/3", "/3/1"].includes(path);
		expect(fieldsOf(request, isMessage)).toEqual([
			[
				1,
				[
					[2, 2],
					[3, "a"],
					[6, 0],
				],
			],
			[
				1,
				[
					[2, 0],
					[3, "v"],
					[4, 3],
				],
			],
			[
				2,
				[
					[
						2,
						[
							[1, "a"],
							[2, "1"],
							[3, 5],
						],
					],
				],
			],
			[2, [[3, [[1, "b"]]]]],
			[
				3,
				[
					[
						1,
						[
							[1, "a"],
							[8, 1],
						],
					],
				],
			],
		]);
	});

	test("a watch that takes responses in fragments", () => {
		const request = encodeWatchRequest({ key: "a", rangeEnd: "b", startRevision: 43 });
		expect(fieldsOf(request, (path) => path === "/1")).toEqual([
			[
				1,
				[
					[1, "a"],
					[2, "b"],
					[3, 43],
					[8, 1],
				],
			],
		]);
	});

	test("what a range finds, fields that are not known among it", () => {
		const kv: Wire = [
			[1, "/a"],
			[2, 3],
			[3, 40],
			[4, 2],
			[5, "value"],
			[6, 2n ** 62n],
			[99, "new"],
		];
		const response = decodeRangeResponse(
			wire([
				[1, HEADER],
				[2, kv],
				[3, 1],
				[4, 1],
				[50, "new"],
			]),
		);
		expect(response).toMatchObject({ header: { clusterId: 7n, revision: 42 }, more: true });
		expect(response.kvs.map(({ value, ...rest }) => ({ ...rest, value: new TextDecoder().decode(value) }))).toEqual([
			{ key: "/a", createRevision: 3, modRevision: 40, version: 2, value: "value", lease: 2n ** 62n },
		]);
	});

	test("what became of a transaction, op by op", () => {
		const succeeded = wire([
			[1, HEADER],
			[2, 1],
			[3, [[2, [[1, HEADER]]]]],
			[3, [[3, [[2, 1]]]]],
			[3, [[3, []]]],
		]);
		expect(decodeTxnResponse(succeeded)).toEqual({
			header: { clusterId: 7n, revision: 42 },
			succeeded: true,
			responses: [{ kind: "put" }, { kind: "delete", deleted: 1 }, { kind: "delete", deleted: 0 }],
		});
		const failed = wire([
			[1, HEADER],
			[
				3,
				[
					[
						1,
						[
							[
								2,
								[
									[1, "a"],
									[3, 4],
								],
							],
						],
					],
				],
			],
			[3, [[1, []]]],
		]);
		expect(decodeTxnResponse(failed)).toMatchObject({
			succeeded: false,
			responses: [
				{ kind: "range", kvs: [{ key: "a", modRevision: 4 }] },
				{ kind: "range", kvs: [] },
			],
		});
	});

	test("what a watch brings: events, fragments, and why it ends", () => {
		const put: Wire = [
			[
				2,
				[
					[1, "a"],
					[3, 43],
					[5, "1"],
				],
			],
		];
		const gone: Wire = [
			[1, 1],
			[
				2,
				[
					[1, "b"],
					[3, 43],
				],
			],
		];
		expect(
			decodeWatchResponse(
				wire([
					[1, HEADER],
					[7, 1],
					[11, put],
					[11, gone],
				]),
			),
		).toMatchObject({
			isFragment: true,
			isCanceled: false,
			events: [
				{ kind: "put", kv: { key: "a", modRevision: 43 } },
				{ kind: "delete", kv: { key: "b", modRevision: 43 } },
			],
		});
		expect(
			decodeWatchResponse(
				wire([
					[1, HEADER],
					[4, 1],
					[5, 40],
					[6, "why"],
				]),
			),
		).toMatchObject({
			isCanceled: true,
			compactRevision: 40,
			cancelReason: "why",
			events: [],
		});
	});

	test("the number of a lease has 63 bits", () => {
		expect(
			decodeLeaseGrantResponse(
				wire([
					[1, HEADER],
					[2, 2n ** 62n + 1n],
					[3, 60],
				]),
			),
		).toBe(2n ** 62n + 1n);
	});
});
