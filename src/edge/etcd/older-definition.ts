/**
 * A CustomResourceDefinition of `apiextensions.k8s.io/v1beta1` as one of v1. Real servers of all releases store that
 * version, though they have not served it since 1.22.
 *
 * What all versions have in common stands once in v1beta1, beside the versions; v1 has it in each of them.
 *
 * @see https://github.com/kubernetes/kubernetes/issues/82292
 */
import { isObject } from "../../kernel/json.ts";

type Struct = Readonly<Record<string, unknown>>;

/** What is of no type that it should have is passed on: the reader of v1 says what is wrong. */
export function definitionOfBeta(data: Struct): Struct {
	const { spec, status } = data;
	if (!isObject(spec)) return data;
	const {
		version,
		validation,
		subresources,
		additionalPrinterColumns,
		selectableFields,
		preserveUnknownFields = true,
		...kept
	} = spec;
	const common = {
		...(validation === undefined ? {} : { schema: validation }),
		...(subresources === undefined ? {} : { subresources }),
		...(selectableFields === undefined ? {} : { selectableFields }),
		...(additionalPrinterColumns === undefined ? {} : { additionalPrinterColumns }),
	};
	const versions = versionsOf(version, kept["versions"]);
	return {
		...data,
		spec: {
			...kept,
			scope: kept["scope"] ?? "Namespaced",
			versions: Array.isArray(versions) ? versions.map((each) => versionOfBeta(each, common)) : versions,
			conversion: conversionOfBeta(kept["conversion"]),
			preserveUnknownFields,
		},
		status: statusOfBeta(status, versions),
	};
}

/** The oldest definitions have one version, and its name alone. */
function versionsOf(version: unknown, versions: unknown): unknown {
	const isEmpty = versions === undefined || versions === null || (Array.isArray(versions) && versions.length === 0);
	return isEmpty && version !== undefined ? [{ name: version, served: true, storage: true }] : versions;
}

function versionOfBeta(version: unknown, common: Struct): unknown {
	if (!isObject(version)) return version;
	const both: Struct = { ...version, ...common };
	const columns = both["additionalPrinterColumns"];
	return Array.isArray(columns) ? { ...both, additionalPrinterColumns: columns.map(columnOfBeta) } : both;
}

function columnOfBeta(column: unknown): unknown {
	if (!isObject(column)) return column;
	const { JSONPath, ...kept } = column;
	return { ...kept, jsonPath: JSONPath };
}

function conversionOfBeta(conversion: unknown): unknown {
	if (!isObject(conversion)) return { strategy: "None" };
	const { webhookClientConfig: clientConfig, conversionReviewVersions, ...kept } = conversion;
	const isByWebhook = kept["strategy"] === "Webhook";
	if (!isByWebhook && clientConfig === undefined && conversionReviewVersions === undefined) return kept;
	const webhook = {
		...(clientConfig === undefined ? {} : { clientConfig }),
		conversionReviewVersions: conversionReviewVersions ?? ["v1beta1"],
	};
	return { ...kept, webhook };
}

function statusOfBeta(status: unknown, versions: unknown): unknown {
	const given = isObject(status) ? status : {};
	const stored = given["storedVersions"];
	if (!Array.isArray(versions) || (Array.isArray(stored) && stored.length > 0)) return given;
	const storage: unknown = versions.find((each) => isObject(each) && each["storage"] === true);
	return isObject(storage) ? { ...given, storedVersions: [storage["name"]] } : given;
}
