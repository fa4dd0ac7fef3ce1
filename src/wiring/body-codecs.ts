/** Codecs of request bodies, each loaded when first needed: most requests are JSON. */
import type { BodyCodecs } from "../apiserver/http/body.ts";

export const bodyCodecs: BodyCodecs & { readonly stringifyYaml: (value: unknown) => Promise<string> } = {
	parseYaml: async (text) => (await import("../edge/codec/yaml.ts")).parseYaml(text),
	stringifyYaml: async (value) => (await import("../edge/codec/yaml.ts")).stringifyYaml(value),
	decodeProtobuf: async (bytes) => (await import("../edge/codec/protobuf.ts")).decodeProtobufBody(bytes),
};
