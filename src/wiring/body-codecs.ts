/** Codecs of request bodies, each loaded when first needed: most requests are JSON. */

import type { SwaggerDocument } from "../api/openapi/swagger.ts";
import { ApiError, badRequest } from "../api/status.ts";
import type { BodyCodecs } from "../apiserver/http/body.ts";
import type { YamlReader } from "../edge/codec/yaml-reader.ts";

/** @param yaml Whoever made it closes it. */
export function bodyCodecs(
	yaml: YamlReader,
): BodyCodecs & { readonly stringifyYaml: (value: unknown) => Promise<string> } {
	return {
		async parseYaml(text, repeated) {
			const parsed = await yaml.parse(text, repeated);
			if (parsed.kind === "too-long") {
				const limit = `limit is ${parsed.lengthMax} characters of YAML; send JSON instead`;
				throw new ApiError("RequestEntityTooLarge", `Request entity too large: ${limit}`);
			}
			if (parsed.kind === "malformed") throw badRequest(`error converting YAML to JSON: ${parsed.message}`);
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

export async function encodeSwagger(document: SwaggerDocument): Promise<Uint8Array> {
	return (await import("../edge/codec/swagger-protobuf.ts")).swaggerProtobuf(document);
}
