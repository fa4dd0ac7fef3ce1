/** How fields of protobuf messages are written and read, in few words. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

interface Fields {
	text(field: number, value: string): void;
	bytes(field: number, value: Uint8Array): void;
	/** Integers of any size, enums, and booleans as 0 and 1. Zero is written, too: a member of a `oneof` needs it. */
	whole(field: number, value: number | bigint): void;
	message(field: number, write: (inner: BinaryWriter) => void): void;
	/** The whole message as bytes. */
	made(write: (writer: BinaryWriter) => void): Uint8Array;
}

export function encoded(writer: BinaryWriter = new BinaryWriter()): Fields {
	return {
		text: (field, value) => void writer.tag(field, WireType.LengthDelimited).string(value),
		bytes: (field, value) => void writer.tag(field, WireType.LengthDelimited).bytes(value),
		whole: (field, value) => void writer.tag(field, WireType.Varint).int64(value),
		message(field, write) {
			writer.tag(field, WireType.LengthDelimited).fork();
			write(writer);
			writer.join();
		},
		made(write) {
			write(writer);
			return writer.finish();
		},
	};
}

export type Read<T> = (reader: BinaryReader) => T;

/** A message: the bytes of one, or the next field of a reader. */
export function read<T>(from: Uint8Array | BinaryReader, readMessage: Read<T>): T {
	return readMessage(new BinaryReader(from instanceof BinaryReader ? from.bytes() : from));
}

/** Each reader reads its field whole; fields without one are skipped, as protobuf wants it. */
export function eachField(reader: BinaryReader, readers: Readonly<Record<number, () => unknown>>): void {
	while (reader.pos < reader.len) {
		const [field, wireType] = reader.tag();
		const readField = readers[field];
		if (readField === undefined) reader.skip(wireType, field);
		else readField();
	}
}

export function numberOf(reader: BinaryReader): number {
	return Number(reader.int64());
}
