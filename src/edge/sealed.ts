/** Values with a checksum over them and their key: LMDB has none, and a disk may give back other bits than it was given. */
import { crc32 } from "node:zlib";

const CHECKSUM_BYTES = 4;

export function sealed(key: string | number, text: string): Buffer {
	const value = Buffer.allocUnsafe(CHECKSUM_BYTES + Buffer.byteLength(text));
	value.write(text, CHECKSUM_BYTES);
	value.writeUInt32BE(checksumOf(key, value), 0);
	return value;
}

/** What was sealed. @throws {Error} When it is not what was written under this key. */
export function unsealed(key: string | number, value: Buffer): Buffer {
	if (value.length < CHECKSUM_BYTES || value.readUInt32BE(0) !== checksumOf(key, value)) {
		throw new Error("its checksum is wrong, the disk has changed it: restore a snapshot");
	}
	return value.subarray(CHECKSUM_BYTES);
}

function checksumOf(key: string | number, value: Buffer): number {
	return crc32(value.subarray(CHECKSUM_BYTES), crc32(`${key} `));
}
