/** Which form the client wants its answer in (api-protocol, "Content negotiation"). */
import { ApiError } from "../../api/status.ts";

export type AnswerForm =
	| { readonly kind: "plain" }
	| { readonly kind: "table"; readonly version: "v1" | "v1beta1" }
	| { readonly kind: "partial"; readonly version: "v1" | "v1beta1"; readonly isList: boolean };

export interface Negotiated {
	readonly syntax: "json" | "yaml";
	readonly form: AnswerForm;
	readonly isPretty: boolean;
}

interface Clause {
	readonly type: string;
	readonly parameters: ReadonlyMap<string, string>;
	readonly quality: number;
}

const MEDIA_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
/** An Accept header has a handful of clauses; more are a mistake or an attack. */
const CLAUSES_MAX = 32;

/** What the request will be answered with. */
export type AnswerShape = "object" | "list" | "watch";

/**
 * Called before the request is carried out: what cannot be answered changes nothing.
 * @throws {ApiError} `NotAcceptable`
 */
export function negotiate(accept: string | undefined, shape: AnswerShape, kind: string): Negotiated {
	const negotiated = firstAcceptable(accept, shape);
	const { form } = negotiated;
	if (form.kind !== "partial" || shape === "watch" || form.isList === (shape === "list")) return negotiated;
	throw new ApiError(
		"NotAcceptable",
		form.isList
			? "you requested PartialObjectMetadataList, but the requested object is not a list"
			: `you requested PartialObjectMetadata, but the requested object is a list (${kind}List)`,
	);
}

function firstAcceptable(accept: string | undefined, shape: AnswerShape): Negotiated {
	if (accept === undefined || accept.trim() === "") return { syntax: "json", form: { kind: "plain" }, isPretty: false };
	for (const clause of clausesOf(accept)) {
		const syntax = syntaxOf(clause.type);
		if (syntax === "yaml" && shape === "watch") continue;
		const form = syntax === undefined ? undefined : formOf(clause.parameters);
		if (syntax === undefined || form === undefined) continue;
		return { syntax, form, isPretty: clause.parameters.get("pretty") === "1" };
	}
	throw new ApiError("NotAcceptable", `only the following media types are accepted: ${MEDIA_TYPES}`);
}

/** Best quality first; clauses of one quality in the order given. */
export function clausesOf(accept: string): readonly Clause[] {
	return accept
		.split(",")
		.slice(0, CLAUSES_MAX)
		.map(clauseOf)
		.filter((clause) => clause.quality > 0)
		.sort((a, b) => b.quality - a.quality);
}

function clauseOf(text: string): Clause {
	const [type = "", ...rest] = text.split(";").map((part) => part.trim());
	const parameters = new Map<string, string>();
	for (const parameter of rest) {
		const equals = parameter.indexOf("=");
		if (equals > 0) parameters.set(parameter.slice(0, equals).toLowerCase(), parameter.slice(equals + 1));
	}
	const quality = Number(parameters.get("q") ?? "1");
	return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
}

function syntaxOf(type: string): Negotiated["syntax"] | undefined {
	switch (type) {
		case "application/json":
		case "application/*":
		case "*/*":
			return "json";
		case "application/yaml":
		case "application/x-yaml":
		case "text/yaml":
			return "yaml";
		default:
			return undefined;
	}
}

function formOf(parameters: ReadonlyMap<string, string>): AnswerForm | undefined {
	const as = parameters.get("as");
	if (as === undefined) return { kind: "plain" };
	const version = parameters.get("v");
	if (parameters.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
	if (as === "Table") return { kind: "table", version };
	if (as === "PartialObjectMetadata") return { kind: "partial", version, isList: false };
	return as === "PartialObjectMetadataList" ? { kind: "partial", version, isList: true } : undefined;
}

/** Pretty JSON for people: asked for, or a browser or curl that did not say. */
export function wantsPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
	const asked = query.get("pretty");
	if (asked !== null) return asked !== "0" && asked.toLowerCase() !== "false";
	return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent ?? "");
}
