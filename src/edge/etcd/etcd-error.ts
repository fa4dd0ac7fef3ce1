/** What etcd, or the way to it, says no with; and the Status that a real API server makes of it. */
import { ApiError } from "../../api/status.ts";

/** gRPC's codes by number. @see https://grpc.io/docs/guides/status-codes/ */
const CODES = [
	"OK",
	"Canceled",
	"Unknown",
	"InvalidArgument",
	"DeadlineExceeded",
	"NotFound",
	"AlreadyExists",
	"PermissionDenied",
	"ResourceExhausted",
	"FailedPrecondition",
	"Aborted",
	"OutOfRange",
	"Unimplemented",
	"Internal",
	"Unavailable",
	"DataLoss",
	"Unauthenticated",
] as const;
type Code = (typeof CODES)[number];

export class EtcdError extends Error {
	override readonly name = "EtcdError";
	readonly code: Code;
	/** The request may have reached etcd, and what came of it is not known. */
	readonly isSent: boolean;

	constructor(code: number | Code, details: string, isSent: boolean) {
		super(details);
		this.code = typeof code === "number" ? (CODES[code] ?? "Unknown") : code;
		this.isSent = isSent;
	}

	/** Another server may do better, or this one later. */
	get isTransient(): boolean {
		return this.code === "Unavailable" || this.code === "DeadlineExceeded";
	}
}

const TOO_LARGE = "etcdserver: request is too large";

/** Real servers pass etcd's own words on, and end what takes too long. */
export function apiErrorOf(error: unknown): unknown {
	if (!(error instanceof EtcdError)) return error;
	const { code, message, isSent } = error;
	if (!isSent) return new ApiError("ServiceUnavailable", message, { cause: error, details: { retryAfterSeconds: 1 } });
	if (code === "DeadlineExceeded") {
		const why = "request did not complete within requested timeout - context deadline exceeded";
		return new ApiError("Timeout", `Timeout: ${why}`, { cause: error, details: {} });
	}
	if (code === "ResourceExhausted" && message.includes("larger than max")) return new ApiError("", TOO_LARGE);
	const text = message.startsWith("etcdserver: ") ? message : `rpc error: code = ${code} desc = ${message}`;
	return new ApiError("", text, { cause: error });
}
