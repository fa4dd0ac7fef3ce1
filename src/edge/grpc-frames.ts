/** As much of gRPC as its health protocol needs: messages with their length, and two messages. */

/** One byte that says "not compressed", and four of length. */
const PREFIX_BYTES = 5;

export const HEALTH_CHECK = "/grpc.health.v1.Health/Check";
export const HEALTH_WATCH = "/grpc.health.v1.Health/Watch";

/** grpc.health.v1.HealthCheckResponse.ServingStatus, by number. */
export const SERVING_STATUS = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] as const;
export type ServingStatus = (typeof SERVING_STATUS)[number];

/** A message as it goes over the wire. */
export function grpcFrame(message: Uint8Array): Buffer {
	const prefix = Buffer.alloc(PREFIX_BYTES);
	prefix.writeUInt32BE(message.length, 1);
	return Buffer.concat([prefix, message]);
}

/** The first message of what came over the wire; undefined when it is not whole, or compressed. */
export function firstGrpcMessage(bytes: Buffer): Buffer | undefined {
	if (bytes.length < PREFIX_BYTES || bytes[0] !== 0) return undefined;
	const end = PREFIX_BYTES + bytes.readUInt32BE(1);
	return bytes.length < end ? undefined : bytes.subarray(PREFIX_BYTES, end);
}

const FIRST_FIELD_VARINT = 0x08;
const FIRST_FIELD_BYTES = 0x0a;

export function healthResponse(status: ServingStatus): Buffer {
	return grpcFrame(Uint8Array.of(FIRST_FIELD_VARINT, SERVING_STATUS.indexOf(status)));
}

/** A HealthCheckRequest; the empty service is the server as a whole. */
export function healthRequest(service: string): Buffer {
	const name = Buffer.from(service);
	return grpcFrame(
		service === "" ? name : Buffer.concat([Uint8Array.of(FIRST_FIELD_BYTES), varint(name.length), name]),
	);
}

/** What a HealthCheckResponse says. A field that is not there is 0. */
export function servingStatusOf(message: Uint8Array): ServingStatus {
	return SERVING_STATUS[message[0] === FIRST_FIELD_VARINT ? (message[1] ?? 0) : 0] ?? "UNKNOWN";
}

function varint(value: number): Uint8Array {
	return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, ...varint(value >>> 7));
}
