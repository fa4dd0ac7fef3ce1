/** Codecs of request bodies, each loaded when first needed: most requests are JSON. */

import type { SwaggerDocument } from "../api/openapi/swagger.ts";
import { badRequest } from "../api/status.ts";
import type { BodyCodecs } from "../apiserver/http/body.ts";

export const bodyCodecs: BodyCodecs & { readonly stringifyYaml: (value: unknown) => Promise<string> } = {
	async parseYaml(text, repeated) {
		const { parseYaml } = await import("../edge/codec/yaml.ts");
		const parsed = await parseYaml(text, repeated);
		if (parsed.kind === "malformed") throw badRequest(`error converting YAML to JSON: ${parsed.message}`);
		return parsed.value;
	},
	async stringifyYaml(value) {
		return (await import("../edge/codec/yaml.ts")).stringifyYaml(value);
	},
	async decodeProtobuf(bytes, expected) {
		const { decodeDeleteOptions, decodeProtobufBody } = await import("../edge/codec/protobuf.ts");
		const body = expected.kind === "DeleteOptions" ? decodeDeleteOptions(bytes) : decodeProtobufBody(bytes, expected);
		return body.object;
	},
};

export async function encodeSwagger(document: SwaggerDocument): Promise<Uint8Array> {
	return (await import("../edge/codec/swagger-protobuf.ts")).swaggerProtobuf(document);
}
