/** `meta/v1` Status: how the API server says no. Branch on `reason`; the message is for people. */
import { clipped } from "../kernel/clipped.ts";
import { ERRORS_MAX, type FieldError } from "./field-error.ts";

/** `metav1.StatusReason`. The empty reason is what a real server gives for a few faults of old. */
export type StatusReason = keyof typeof CODE_BY_REASON | "";

const CODE_BY_REASON = {
	BadRequest: 400,
	Unauthorized: 401,
	Forbidden: 403,
	NotFound: 404,
	MethodNotAllowed: 405,
	NotAcceptable: 406,
	AlreadyExists: 409,
	Conflict: 409,
	Expired: 410,
	Gone: 410,
	RequestEntityTooLarge: 413,
	UnsupportedMediaType: 415,
	Invalid: 422,
	TooManyRequests: 429,
	InternalError: 500,
	ServerTimeout: 500,
	ServiceUnavailable: 503,
	Timeout: 504,
} as const;

export interface StatusCause {
	readonly reason?: string;
	readonly message?: string;
	readonly field?: string;
}

export interface StatusDetails {
	readonly name?: string;
	readonly group?: string;
	/** The plural resource; for reason Invalid the Kind. */
	readonly kind?: string;
	readonly uid?: string;
	readonly causes?: readonly StatusCause[];
	readonly retryAfterSeconds?: number;
}

export interface Status {
	readonly kind: "Status";
	readonly apiVersion: "v1";
	readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
	readonly status: "Success" | "Failure";
	readonly message?: string;
	readonly reason?: StatusReason;
	readonly details?: StatusDetails;
	readonly code?: number;
}

export interface ApiErrorOptions {
	readonly details?: StatusDetails;
	readonly cause?: unknown;
	/** Only for reason "", where no code follows from the reason. Default 500. */
	readonly code?: number;
	/** Only for a list whose snapshot is gone: where to go on with the newest state. */
	readonly continueToken?: string;
}

/** Characters of the message of any error, and of all of its causes together: more than anybody reads. */
const TEXT_MAX = 64 * 1024;

/** As many causes as there is room for. */
function withFewCauses(details: StatusDetails | undefined): StatusDetails | undefined {
	if (details?.causes === undefined) return details;
	let left = TEXT_MAX;
	const causes: StatusCause[] = [];
	for (const cause of details.causes) {
		const { message, field } = cause;
		const short = {
			...cause,
			...(message === undefined ? {} : { message: clipped(message, TEXT_MAX) }),
			...(field === undefined ? {} : { field: clipped(field, FIELD_MAX) }),
		};
		left -= (short.message?.length ?? 0) + (short.field?.length ?? 0);
		if (left < 0 && causes.length > 0) break;
		causes.push(short);
	}
	return { ...details, causes };
}

/** Characters of a field's path: keys of maps are a part of it. */
const FIELD_MAX = 1_024;

/** An error that the API server answered, or would answer, as a Status. */
export class ApiError extends Error {
	override readonly name = "ApiError";
	readonly reason: StatusReason;
	readonly code: number;
	readonly details: StatusDetails | undefined;
	readonly continueToken: string | undefined;

	constructor(reason: StatusReason, message: string, options: ApiErrorOptions = {}) {
		super(clipped(message, TEXT_MAX), { cause: options.cause });
		this.reason = reason;
		this.code = reason === "" ? (options.code ?? 500) : CODE_BY_REASON[reason];
		this.details = withFewCauses(options.details);
		this.continueToken = options.continueToken;
	}

	status(): Status {
		return {
			kind: "Status",
			apiVersion: "v1",
			metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
			status: "Failure",
			message: this.message,
			...(this.reason === "" ? {} : { reason: this.reason }),
			...(this.details === undefined ? {} : { details: this.details }),
			code: this.code,
		};
	}
}

/** The error that a Status from a server stands for. */
export function errorFromStatus(status: Status): ApiError {
	const reason = status.reason !== undefined && Object.hasOwn(CODE_BY_REASON, status.reason) ? status.reason : "";
	return new ApiError(reason, status.message ?? "", {
		...(status.details === undefined ? {} : { details: status.details }),
		...(status.code === undefined ? {} : { code: status.code }),
	});
}

export function hasReason(error: unknown, reason: StatusReason): error is ApiError {
	return error instanceof ApiError && error.reason === reason;
}

/** Whether one of the error's causes has this reason, such as `NamespaceTerminating`. */
export function hasCause(error: unknown, causeReason: string): boolean {
	return error instanceof ApiError && (error.details?.causes ?? []).some((cause) => cause.reason === causeReason);
}

/** What an error message calls a resource: `pods`, `deployments.apps`. */
export interface ResourceWords {
	readonly group: string;
	readonly plural: string;
	readonly kind: string;
}

export function qualifiedPlural(resource: ResourceWords): string {
	return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function qualifiedKind(resource: Pick<ResourceWords, "group" | "kind">): string {
	return resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
}

function detailsOf(resource: ResourceWords, name: string, more: StatusDetails = {}): StatusDetails {
	const group = resource.group === "" ? {} : { group: resource.group };
	return { ...(name === "" ? {} : { name }), ...group, kind: resource.plural, ...more };
}

export function badRequest(message: string): ApiError {
	return new ApiError("BadRequest", message);
}

export function notFound(resource: ResourceWords, name: string): ApiError {
	return new ApiError("NotFound", `${qualifiedPlural(resource)} "${name}" not found`, {
		details: detailsOf(resource, name),
	});
}

/** For a path that no resource has. */
export function noSuchPath(): ApiError {
	return new ApiError("NotFound", "the server could not find the requested resource", { details: {} });
}

export function alreadyExists(resource: ResourceWords, name: string, isBeingDeleted = false): ApiError {
	const prefix = isBeingDeleted ? "object is being deleted: " : "";
	return new ApiError("AlreadyExists", `${prefix}${qualifiedPlural(resource)} "${name}" already exists`, {
		details: detailsOf(resource, name),
	});
}

export function conflict(resource: ResourceWords, name: string, why: string): ApiError {
	const message = `Operation cannot be fulfilled on ${qualifiedPlural(resource)} "${name}": ${why}`;
	return new ApiError("Conflict", message, { details: detailsOf(resource, name) });
}

export const OBJECT_MODIFIED =
	"the object has been modified; please apply your changes to the latest version and try again";

export function forbiddenFor(
	resource: ResourceWords,
	name: string,
	why: string,
	causes?: readonly StatusCause[],
): ApiError {
	const subject = name === "" ? qualifiedPlural(resource) : `${qualifiedPlural(resource)} "${name}"`;
	return new ApiError("Forbidden", `${subject} is forbidden: ${why}`, {
		details: detailsOf(resource, name, causes === undefined ? {} : { causes }),
	});
}

export function methodNotAllowed(resource: ResourceWords, verb: string): ApiError {
	const message = `${verb} is not supported on resources of kind "${qualifiedPlural(resource)}"`;
	return new ApiError("MethodNotAllowed", message, { details: detailsOf(resource, "") });
}

/** 422: the object is well-formed, and breaks rules. `errors` must not be empty; duplicates are dropped. */
export function invalidObject(
	resource: Pick<ResourceWords, "group" | "kind">,
	name: string,
	errors: readonly FieldError[],
): ApiError {
	const shown = errors.slice(0, ERRORS_MAX);
	const texts = [
		...new Set(shown.map(({ field, body }) => `${clipped(field, FIELD_MAX)}: ${body}`)),
		...(errors.length > ERRORS_MAX ? ["and more"] : []),
	];
	const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
	return new ApiError("Invalid", `${qualifiedKind(resource)} "${name}" is invalid: ${list}`, {
		details: {
			...(name === "" ? {} : { name }),
			...(resource.group === "" ? {} : { group: resource.group }),
			kind: resource.kind,
			causes: shown.map(({ type, field, body }) => ({
				reason: type === "InternalError" ? type : `FieldValue${type}`,
				message: body,
				field,
			})),
		},
	});
}

/** 504 of a reader that is ahead of the server: clients list again from scratch. */
export function tooLargeResourceVersion(asked: number, current: number): ApiError {
	return new ApiError("Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
		details: {
			causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
			retryAfterSeconds: 1,
		},
	});
}

/** 410 of a watch whose start is no longer in the kept history: clients list again. */
export function expiredWatch(asked: number, oldest: number): ApiError {
	return new ApiError("Expired", `too old resource version: ${asked} (${oldest})`);
}

/** @param continueToken Goes on in the newest state, for a list that was under way. */
export function expiredList(continueToken?: string): ApiError {
	if (continueToken === undefined) {
		return new ApiError("Expired", "The resourceVersion for the provided list is too old.");
	}
	const message =
		"The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may " +
		"show up in the list.";
	return new ApiError("Expired", message, { continueToken });
}

export function internalError(why: string, cause?: unknown): ApiError {
	return new ApiError("InternalError", `Internal error occurred: ${why}`, {
		details: { causes: [{ message: why }] },
		cause,
	});
}

export function requestEntityTooLarge(bytesMax: number): ApiError {
	return new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${bytesMax}`);
}
