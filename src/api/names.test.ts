import { describe, expect, test } from "vitest";
import {
	dns1035LabelProblems,
	dns1123LabelName,
	dns1123LabelProblems,
	dns1123SubdomainName,
	dns1123SubdomainProblems,
	labelValueProblems,
	pathSegmentName,
	portNameProblems,
	portNumberProblems,
	qualifiedNameProblems,
} from "./names.ts";

const LABEL =
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with" +
	" an alphanumeric character (e.g. 'my-name',  or '123-abc'," +
	" regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and" +
	" end with an alphanumeric character (e.g. 'example.com', regex used for validation is" +
	" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const OLD_LABEL =
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character," +
	" and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123'," +
	" regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const VALUE =
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and" +
	" end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is" +
	" '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED =
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
	" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is" +
	" '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

interface Row {
	readonly check: (value: string) => readonly string[];
	readonly value: string;
	readonly problems: readonly string[];
}

describe("formats of names", () => {
	test.each<Row>([
		{ check: dns1123LabelProblems, value: "0web", problems: [] },
		{ check: dns1123LabelProblems, value: "Web", problems: [LABEL] },
		{ check: dns1123LabelProblems, value: "web-", problems: [LABEL] },
		{ check: dns1123LabelProblems, value: "", problems: [LABEL] },
		{ check: dns1123LabelProblems, value: "web\n", problems: [LABEL] },
		{ check: dns1123LabelProblems, value: "a.b", problems: ["must not contain dots"] },
		{ check: dns1123LabelProblems, value: "a".repeat(63), problems: [] },
		{ check: dns1123LabelProblems, value: "a".repeat(64), problems: ["must be no more than 63 characters"] },
		{ check: dns1123SubdomainProblems, value: "a.b-c.0", problems: [] },
		{ check: dns1123SubdomainProblems, value: "a..b", problems: [SUBDOMAIN] },
		{ check: dns1123SubdomainProblems, value: "a".repeat(254), problems: ["must be no more than 253 characters"] },
		{ check: dns1035LabelProblems, value: "web-1", problems: [] },
		{ check: dns1035LabelProblems, value: "1web", problems: [OLD_LABEL] },
		{ check: labelValueProblems, value: "", problems: [] },
		{ check: labelValueProblems, value: "A_b.c-1", problems: [] },
		{ check: labelValueProblems, value: "-x", problems: [VALUE] },
		{ check: labelValueProblems, value: "x".repeat(64), problems: ["must be no more than 63 bytes"] },
		{ check: qualifiedNameProblems, value: "example.com/My.Name", problems: [] },
		{ check: qualifiedNameProblems, value: "/a", problems: ["prefix part must be non-empty"] },
		{
			check: qualifiedNameProblems,
			value: "a/",
			problems: ["name part must be non-empty", `name part ${QUALIFIED}`],
		},
		{ check: qualifiedNameProblems, value: "A/b", problems: [`prefix part ${SUBDOMAIN}`] },
		{
			check: qualifiedNameProblems,
			value: "a/b/c",
			problems: [
				`a valid label key ${QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
			],
		},
		{ check: portNameProblems, value: "http-2", problems: [] },
		{
			check: portNameProblems,
			value: "-80--",
			problems: [
				"must contain at least one letter (a-z)",
				"must not contain consecutive hyphens",
				"must not begin or end with a hyphen",
			],
		},
		{
			check: portNameProblems,
			value: "Very_long_port_name",
			problems: [
				"must be no more than 15 characters",
				"must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
			],
		},
	])("$value: $problems.length problems", ({ check, value, problems }) => {
		expect(check(value)).toEqual(problems);
	});

	test("a port number is 1 to 65535", () => {
		expect([0, 1, 65535, 65536, 1.5].map((port) => portNumberProblems(port).length)).toEqual([1, 0, 0, 1, 1]);
		expect(portNumberProblems(0)).toEqual(["must be between 1 and 65535, inclusive"]);
	});

	test("a prefix of a generated name may end in a dash", () => {
		expect(dns1123LabelName("web-", true)).toEqual([]);
		expect(dns1123SubdomainName("a.web-", true)).toEqual([]);
		expect(dns1123LabelName("web-", false)).toEqual([LABEL]);
		expect(dns1123LabelName("-", true)).toEqual([LABEL]);
	});

	test("a path segment is neither a dot name nor holds a slash or percent sign", () => {
		expect(pathSegmentName("..", false)).toEqual(["may not be '..'"]);
		expect(pathSegmentName("..", true)).toEqual([]);
		expect(pathSegmentName("a/b%c", false)).toEqual(["may not contain '/'", "may not contain '%'"]);
		expect(pathSegmentName("web.17a2B", false)).toEqual([]);
	});
});
