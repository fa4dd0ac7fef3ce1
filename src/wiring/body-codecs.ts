/** Codecs of request bodies, each loaded when first needed: most requests are JSON. */

import type { SwaggerDocument } from "../api/openapi/swagger.ts";
import { ApiError, badRequest } from "../api/status.ts";
import type { BodyCodecs } from "../apiserver/http/body.ts";
import type { ReadYaml, YamlReader } from "../edge/codec/yaml-reader.ts";

/** @param yaml Whoever made it closes it. */
export function bodyCodecs(
	yaml: YamlReader,
): BodyCodecs & { readonly stringifyYaml: (value: unknown) => Promise<string> } {
	return {
		async parseYaml(text, repeated, who = "") {
			const parsed = await yaml.parse(text, who, repeated);
			if (parsed.kind !== "ok") throw refused(parsed);
			return parsed.value;
		},
		async stringifyYaml(value) {
			return (await import("../edge/codec/yaml.ts")).stringifyYaml(value);
		},
		async decodeProtobuf(bytes, expected) {
			const { decodeDeleteOptions, decodeProtobufBody } = await import("../edge/codec/protobuf.ts");
			const isDelete = expected.kind === "DeleteOptions";
			const body = isDelete ? decodeDeleteOptions(bytes) : decodeProtobufBody(bytes, expected);
			return body.object;
		},
	};
}

function refused(read: Exclude<ReadYaml, { kind: "ok" }>): ApiError {
	switch (read.kind) {
		case "malformed":
			return badRequest(`error converting YAML to JSON: ${read.message}`);
		case "too-long":
			return tooLarge(`limit is ${read.lengthMax} characters of YAML; send JSON instead`);
		case "too-slow":
			return tooLarge(`reading the YAML took longer than ${read.msMax} ms; send JSON instead`);
		case "too-many": {
			const why = `${read.waitingMax} long YAML bodies of yours are waiting to be read: try again later, or send JSON`;
			return new ApiError("TooManyRequests", why, { details: { retryAfterSeconds: 1 } });
		}
	}
}

function tooLarge(why: string): ApiError {
	return new ApiError("RequestEntityTooLarge", `Request entity too large: ${why}`);
}

export async function encodeSwagger(document: SwaggerDocument): Promise<Uint8Array> {
	return (await import("../edge/codec/swagger-protobuf.ts")).swaggerProtobuf(document);
}
