/** What a schema may say about how its lists and maps are merged. */
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { itemsOf, type SchemaProps } from "./schema-props.ts";

export function listRuleErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	return [...preserveErrors(schema, path), ...mapTypeErrors(schema, path), ...listTypeErrors(schema, path)];
}

function preserveErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	const name = "x-kubernetes-preserve-unknown-fields";
	return schema[name] === false ? [invalid(`${path}.${name}`, false, "must be true or undefined")] : [];
}

function wrongType(schema: SchemaProps, path: string, why: string): FieldError {
	return schema.type === undefined ? required(`${path}.type`, why) : invalid(`${path}.type`, schema.type, why);
}

function mapTypeErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	const mapType = schema["x-kubernetes-map-type"];
	if (mapType === undefined) return [];
	const supported = ["atomic", "granular"];
	return [
		...(schema.type === "object"
			? []
			: [wrongType(schema, path, "must be object if x-kubernetes-map-type is specified")]),
		...(supported.includes(mapType) ? [] : [notSupported(`${path}.x-kubernetes-map-type`, mapType, supported)]),
	];
}

function listTypeErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	const listType = schema["x-kubernetes-list-type"];
	const keys = schema["x-kubernetes-list-map-keys"] ?? [];
	const errors: FieldError[] = [];
	const items = itemsOf(schema);
	if (listType !== undefined && schema.type !== "array") {
		errors.push(wrongType(schema, path, "must be array if x-kubernetes-list-type is specified"));
	} else if (listType === "set" && items !== undefined) errors.push(...setErrors(items, path));
	const supported = ["atomic", "set", "map"];
	if (listType !== undefined && !supported.includes(listType)) {
		errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, supported));
	}
	if (keys.length > 0 && listType !== "map") {
		const why = "must be map if x-kubernetes-list-map-keys is non-empty";
		const field = `${path}.x-kubernetes-list-type`;
		errors.push(listType === undefined ? required(field, why) : invalid(field, listType, why));
	}
	if ((listType === "set" || listType === "map") && items?.nullable === true) {
		const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
		errors.push(forbidden(`${path}.items.nullable`, why));
	}
	return listType === "map" ? [...errors, ...mapErrors(schema, keys, path)] : errors;
}

/** Items of a set are taken as one. */
function setErrors(items: SchemaProps, path: string): readonly FieldError[] {
	const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
	const listType = items["x-kubernetes-list-type"];
	if (items.type === "array" && listType !== undefined && listType !== "atomic") {
		return [invalid(`${path}.items.x-kubernetes-list-type`, listType, why)];
	}
	if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
		return [invalid(`${path}.items.x-kubernetes-map-type`, listType, why)];
	}
	return [];
}

function mapErrors(schema: SchemaProps, keys: readonly string[], path: string): readonly FieldError[] {
	const field = `${path}.x-kubernetes-list-map-keys`;
	const items = itemsOf(schema);
	const errors: FieldError[] = [];
	if (keys.length === 0) errors.push(required(field, "must not be empty if x-kubernetes-list-type is map"));
	if (items === undefined) {
		errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
		return errors;
	}
	if (items.type !== "object") {
		const why = "must be object if parent array's x-kubernetes-list-type is map";
		errors.push(invalid(`${path}.items.type`, items.type ?? "", why));
		return errors;
	}
	for (const [index, key] of keys.entries()) {
		if (keys.indexOf(key) < index) errors.push(invalid(field, keys, "must not contain duplicate entries"));
		errors.push(...keyErrors(items, key, keys, path));
	}
	return errors;
}

function keyErrors(items: SchemaProps, key: string, keys: readonly string[], path: string): readonly FieldError[] {
	const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined;
	if (property === undefined) {
		return [invalid(`${path}.x-kubernetes-list-map-keys`, keys, "entries must all be names of item properties")];
	}
	const place = `${path}.items.properties[${key}]`;
	const isGiven = items.required?.includes(key) === true || property.default !== undefined;
	const inKeys = "this property is in x-kubernetes-list-map-keys, so it";
	return [
		...(property.type === "array" || property.type === "object"
			? [invalid(`${place}.type`, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map")]
			: []),
		...(isGiven ? [] : [required(`${place}.default`, `${inKeys} must have a default or be a required property`)]),
		...(property.nullable === true ? [forbidden(`${place}.nullable`, `${inKeys} cannot be nullable`)] : []),
	];
}
