/** What an expectation says about an answer. Pure: the tests beside it need no server. */

const ABSENT = "$absent";
const ANY = "$any";

/** Own members only: names in answers are foreign. */
function member(object, name) {
	return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The places where `got` is not what `wanted` says. Objects: the listed members. Arrays: the same length. Strings:
 * `~REGEX` searches, `$absent` wants no such member, `$any` wants any value but null.
 */
export function mismatches(wanted, got, at = "") {
	if (Array.isArray(wanted)) return arrayMismatches(wanted, got, at);
	if (isObject(wanted)) return objectMismatches(wanted, got, at);
	return isMatch(wanted, got) ? [] : [{ at, wanted, got }];
}

function isMatch(wanted, got) {
	if (wanted === ABSENT) return got === undefined;
	if (wanted === ANY) return got !== undefined && got !== null;
	if (typeof wanted !== "string" || !wanted.startsWith("~")) return Object.is(wanted, got);
	return typeof got === "string" && new RegExp(wanted.slice(1)).test(got);
}

function objectMismatches(wanted, got, at) {
	if (!isObject(got)) return [{ at, wanted, got }];
	return Object.keys(wanted).flatMap((name) => mismatches(wanted[name], member(got, name), `${at}/${name}`));
}

function arrayMismatches(wanted, got, at) {
	if (!Array.isArray(got) || got.length !== wanted.length) return [{ at, wanted, got }];
	return wanted.flatMap((item, index) => mismatches(item, got[index], `${at}/${index}`));
}

/**
 * Puts values in the place of `$NAME` in every string and key; a string that is nothing but `$NAME` becomes the value,
 * number or not. Names without a value stay: `$patch` is Kubernetes'.
 */
export function substitute(template, values) {
	if (typeof template === "string") {
		const whole = /^\$([A-Za-z][A-Za-z0-9]*)$/.exec(template);
		if (whole !== null) return member(values, whole[1]) ?? template;
		return template.replaceAll(/\$([A-Za-z][A-Za-z0-9]*)/g, (text, name) => String(member(values, name) ?? text));
	}
	if (Array.isArray(template)) return template.map((item) => substitute(item, values));
	if (!isObject(template)) return template;
	return Object.fromEntries(
		Object.entries(template).map(([name, value]) => [substitute(name, values), substitute(value, values)]),
	);
}

/** What a JSON pointer (RFC 6901) points to; undefined when there is nothing. */
export function valueAt(document, pointer) {
	const names = pointer.split("/").slice(1);
	return names.reduce((value, name) => {
		if (typeof value !== "object" || value === null) return undefined;
		return member(value, name.replaceAll("~1", "/").replaceAll("~0", "~"));
	}, document);
}
