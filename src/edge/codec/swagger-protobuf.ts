/**
 * An OpenAPI v2 document in the protobuf form that kubectl reads it in: the message `Document` of gnostic's
 * `openapi.v2`. Field numbers are from that message's definition.
 *
 * @see https://github.com/google/gnostic-models/blob/main/openapiv2/OpenAPIv2.proto
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Schema } from "../../api/openapi/schemas.ts";
import type { SwaggerDocument, SwaggerOperation } from "../../api/openapi/swagger.ts";
import { isObject } from "../../kernel/json.ts";

export function swaggerProtobuf(document: SwaggerDocument): Uint8Array {
	const writer = new BinaryWriter();
	text(writer, 1, document.swagger);
	message(writer, 2, (info) => {
		text(info, 1, document.info.title);
		text(info, 2, document.info.version);
	});
	message(writer, 8, (paths) => {
		for (const [path, operations] of Object.entries(document.paths)) {
			named(paths, 2, path, (item) => {
				for (const [method, operation] of Object.entries(operations)) {
					message(item, METHOD_FIELDS[method] ?? 2, (writer) => writeOperation(writer, operation));
				}
			});
		}
	});
	message(writer, 9, (definitions) => {
		for (const [name, schema] of Object.entries(document.definitions)) {
			named(definitions, 1, name, (value) => writeSchema(value, schema));
		}
	});
	return writer.finish();
}

const METHOD_FIELDS: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 };

function writeOperation(writer: BinaryWriter, operation: SwaggerOperation): void {
	text(writer, 5, operation.operationId);
	for (const parameter of operation.parameters) {
		// ParametersItem.parameter -> Parameter.nonBodyParameter -> query or path.
		message(writer, 8, (item) =>
			message(item, 1, (one) =>
				message(one, 2, (nonBody) =>
					message(nonBody, parameter.in === "path" ? 4 : 3, (sub) => {
						if (parameter.in === "path") sub.tag(1, VARINT).bool(true);
						text(sub, 2, parameter.in);
						text(sub, 4, parameter.name);
						text(sub, parameter.in === "path" ? 5 : 6, parameter.type);
					}),
				),
			),
		);
	}
	// Responses.responseCode -> NamedResponseValue -> ResponseValue.response -> Response.description.
	message(writer, 9, (responses) =>
		named(responses, 1, "200", (value) => message(value, 1, (response) => text(response, 1, "OK"))),
	);
	writeExtensions(writer, 13, operation);
}

function writeSchema(writer: BinaryWriter, schema: Schema): void {
	const { $ref, format, description, required, type, items, additionalProperties, properties } = schema;
	if (typeof $ref === "string") text(writer, 1, $ref);
	if (typeof format === "string") text(writer, 2, format);
	if (typeof description === "string") text(writer, 4, description);
	if (Array.isArray(required)) for (const name of required) text(writer, 19, String(name));
	if (isObject(additionalProperties)) {
		message(writer, 21, (item) => message(item, 1, (value) => writeSchema(value, additionalProperties)));
	}
	if (typeof type === "string") message(writer, 22, (item) => text(item, 1, type));
	if (isObject(items)) message(writer, 23, (item) => message(item, 1, (value) => writeSchema(value, items)));
	if (isObject(properties)) {
		message(writer, 25, (list) => {
			for (const [name, value] of Object.entries(properties)) {
				if (isObject(value)) named(list, 1, name, (schema) => writeSchema(schema, value));
			}
		});
	}
	writeExtensions(writer, 31, schema);
}

/** `x-` members, each as YAML, of which JSON is a part. */
function writeExtensions(writer: BinaryWriter, field: number, object: object): void {
	for (const [name, value] of Object.entries(object)) {
		if (name.startsWith("x-")) named(writer, field, name, (any) => text(any, 2, `${JSON.stringify(value)}\n`));
	}
}

const LENGTH_DELIMITED = 2;
const VARINT = 0;

function text(writer: BinaryWriter, field: number, value: string): void {
	writer.tag(field, LENGTH_DELIMITED).string(value);
}

function message(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
	writer.tag(field, LENGTH_DELIMITED).fork();
	write(writer);
	writer.join();
}

/** The `Named...` messages: a name, and a value. */
function named(writer: BinaryWriter, field: number, name: string, write: (value: BinaryWriter) => void): void {
	message(writer, field, (entry) => {
		text(entry, 1, name);
		message(entry, 2, write);
	});
}
