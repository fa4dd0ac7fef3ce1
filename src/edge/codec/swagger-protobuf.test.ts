import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import { swaggerDocument } from "../../api/openapi/swagger.ts";
import { DISCOVERED_TYPES } from "../../api/resource-table.ts";
import { swaggerProtobuf } from "./swagger-protobuf.ts";

/** Fields of a message by number; nested messages stay bytes. */
function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
	const reader = new BinaryReader(bytes);
	const fields = new Map<number, Uint8Array[]>();
	while (reader.pos < reader.len) {
		const [field, type] = reader.tag();
		if (type !== WireType.LengthDelimited) {
			reader.skip(type);
			continue;
		}
		fields.set(field, [...(fields.get(field) ?? []), reader.bytes()]);
	}
	return fields;
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** The value of a list of named messages. */
function named(list: readonly Uint8Array[] | undefined, name: string): Map<number, Uint8Array[]> {
	const entry = (list ?? []).map(fieldsOf).find((fields) => text(fields.get(1)?.[0]) === name);
	return fieldsOf(entry?.get(2)?.[0] ?? new Uint8Array());
}

describe("swaggerProtobuf()", () => {
	const document = fieldsOf(swaggerProtobuf(swaggerDocument(DISCOVERED_TYPES)));

	test("is a document of OpenAPI 2.0", () => {
		expect(text(document.get(1)?.[0])).toBe("2.0");
	});

	test("names the kind of a definition, by which kubectl explain finds it", () => {
		const definitions = fieldsOf(document.get(9)?.[0] ?? new Uint8Array()).get(1);
		const service = named(definitions, "io.k8s.api.core.v1.Service");
		const kinds = named(service.get(31), "x-kubernetes-group-version-kind");
		expect(JSON.parse(text(kinds.get(2)?.[0]))).toEqual([{ group: "", version: "v1", kind: "Service" }]);
		const ports = named(
			fieldsOf(named(definitions, "io.k8s.api.core.v1.ServiceSpec").get(25)?.[0] ?? new Uint8Array()).get(1),
			"ports",
		);
		expect(text(named(ports.get(31), "x-kubernetes-patch-merge-key").get(2)?.[0])).toBe('"port"\n');
	});

	test("says that a patch takes fieldValidation, so that kubectl leaves checking to the server", () => {
		const paths = fieldsOf(document.get(8)?.[0] ?? new Uint8Array()).get(2);
		const patch = fieldsOf(
			named(paths, "/api/v1/namespaces/{namespace}/services/{name}").get(8)?.[0] ?? new Uint8Array(),
		);
		const names = (patch.get(8) ?? []).map((item) => {
			const inner = [1, 2, 3].reduce((bytes, field) => fieldsOf(bytes).get(field)?.[0] ?? new Uint8Array(), item);
			return text(fieldsOf(inner).get(4)?.[0]);
		});
		expect(names).toContain("fieldValidation");
	});
});
