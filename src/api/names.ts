/**
 * The formats of names in Kubernetes. Every check returns one text per broken rule, in the words
 * that a real API server uses; an empty list means that the value is right.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
import type { NameRule } from "./resource.ts";

const DNS_1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_1123_SUBDOMAIN = `${DNS_1123_LABEL}(\\.${DNS_1123_LABEL})*`;
const DNS_1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

const DNS_1123_LABEL_WHOLE = whole(DNS_1123_LABEL);
const DNS_1123_SUBDOMAIN_WHOLE = whole(DNS_1123_SUBDOMAIN);
const DNS_1035_LABEL_WHOLE = whole(DNS_1035_LABEL);
const QUALIFIED_NAME_WHOLE = whole(QUALIFIED_NAME);
const LABEL_VALUE_WHOLE = whole(LABEL_VALUE);

const LABEL_BYTES_MAX = 63;
const SUBDOMAIN_BYTES_MAX = 253;
const PORT_NAME_BYTES_MAX = 15;

function whole(pattern: string): RegExp {
	return new RegExp(`^(?:${pattern})$`);
}

const encoder = new TextEncoder();

/** Length in UTF-8, which is what every limit of the API counts. */
export function byteLength(text: string): number {
	return encoder.encode(text).length;
}

/** The comma before `or` is part of the text that users know. */
function formatProblem(rule: string, pattern: string, examples: readonly string[]): string {
	const list = examples.map((example) => `'${example}', `).join(" or ");
	return `${rule} (e.g. ${list}regex used for validation is '${pattern}')`;
}

function tooLongProblems(value: string, bytesMax: number, unit = "characters"): string[] {
	return byteLength(value) > bytesMax ? [`must be no more than ${bytesMax} ${unit}`] : [];
}

export function dns1123LabelProblems(value: string): readonly string[] {
	const problems = tooLongProblems(value, LABEL_BYTES_MAX);
	if (DNS_1123_LABEL_WHOLE.test(value)) return problems;
	if (DNS_1123_SUBDOMAIN_WHOLE.test(value)) return [...problems, "must not contain dots"];
	const rule =
		"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'," +
		" and must start and end with an alphanumeric character";
	return [...problems, formatProblem(rule, DNS_1123_LABEL, ["my-name", "123-abc"])];
}

export function dns1123SubdomainProblems(value: string): readonly string[] {
	const problems = tooLongProblems(value, SUBDOMAIN_BYTES_MAX);
	if (DNS_1123_SUBDOMAIN_WHOLE.test(value)) return problems;
	const rule =
		"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'," +
		" and must start and end with an alphanumeric character";
	return [...problems, formatProblem(rule, DNS_1123_SUBDOMAIN, ["example.com"])];
}

export function dns1035LabelProblems(value: string): readonly string[] {
	const problems = tooLongProblems(value, LABEL_BYTES_MAX);
	if (DNS_1035_LABEL_WHOLE.test(value)) return problems;
	const rule =
		"a DNS-1035 label must consist of lower case alphanumeric characters or '-'," +
		" start with an alphabetic character, and end with an alphanumeric character";
	return [...problems, formatProblem(rule, DNS_1035_LABEL, ["my-name", "abc-123"])];
}

const QUALIFIED_NAME_PROBLEM = formatProblem(
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
	QUALIFIED_NAME,
	["MyName", "my.name", "123-abc"],
);

/** A label key: a name, or a DNS subdomain, a slash and a name. */
export function qualifiedNameProblems(value: string): readonly string[] {
	const parts = value.split("/");
	if (parts.length > 2) {
		const example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
		return [`a valid label key ${QUALIFIED_NAME_PROBLEM} ${example}`];
	}
	const [name = "", prefix] = parts.reverse();
	return [...prefixProblems(prefix), ...namePartProblems(name)];
}

function prefixProblems(prefix: string | undefined): readonly string[] {
	if (prefix === undefined) return [];
	if (prefix === "") return ["prefix part must be non-empty"];
	return dns1123SubdomainProblems(prefix).map((problem) => `prefix part ${problem}`);
}

function namePartProblems(name: string): readonly string[] {
	const size = name === "" ? ["must be non-empty"] : tooLongProblems(name, LABEL_BYTES_MAX, "bytes");
	const format = QUALIFIED_NAME_WHOLE.test(name) ? [] : [QUALIFIED_NAME_PROBLEM];
	return [...size, ...format].map((problem) => `name part ${problem}`);
}

export function labelValueProblems(value: string): readonly string[] {
	const problems = tooLongProblems(value, LABEL_BYTES_MAX, "bytes");
	if (LABEL_VALUE_WHOLE.test(value)) return problems;
	const rule =
		"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'," +
		" and must start and end with an alphanumeric character";
	return [...problems, formatProblem(rule, LABEL_VALUE, ["MyValue", "my_value", "12345"])];
}

/** A service name as IANA registers them: what a named container port is called. @see RFC 6335 §5.1 */
export function portNameProblems(value: string): readonly string[] {
	const problems = tooLongProblems(value, PORT_NAME_BYTES_MAX);
	if (!/^[-a-z0-9]+$/.test(value)) {
		problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
	}
	if (!/[a-z]/.test(value)) problems.push("must contain at least one letter (a-z)");
	if (value.includes("--")) problems.push("must not contain consecutive hyphens");
	if (value.startsWith("-") || value.endsWith("-")) problems.push("must not begin or end with a hyphen");
	return problems;
}

export function portNumberProblems(port: number): readonly string[] {
	return Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : ["must be between 1 and 65535, inclusive"];
}

/** A name that can stand between two slashes of a URL. */
export const pathSegmentName: NameRule = (name, isPrefix) => {
	if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
	return ["/", "%"].filter((illegal) => name.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
};

export const dns1123LabelName: NameRule = (name, isPrefix) => dns1123LabelProblems(maskedPrefix(name, isPrefix));

export const dns1123SubdomainName: NameRule = (name, isPrefix) =>
	dns1123SubdomainProblems(maskedPrefix(name, isPrefix));

/** A generateName may end in a dash, since characters will follow it. */
function maskedPrefix(name: string, isPrefix: boolean): string {
	return isPrefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}
