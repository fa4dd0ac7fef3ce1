/** Reads the pairs, and plays them: each scenario in a namespace of its own. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { mismatches, substitute, valueAt } from "./match.mjs";

const PAIRS = path.join(path.dirname(fileURLToPath(import.meta.url)), "pairs");
/** The longest that a cluster takes to give a namespace its ServiceAccount, without which Pods are refused. */
const ACCOUNT_WITHIN_MS = 20_000;

export function loadScenarios() {
	const files = readdirSync(PAIRS).filter((file) => file.endsWith(".yaml"));
	return files.sort().flatMap((file) => scenariosIn(file, readFileSync(path.join(PAIRS, file), "utf8")));
}

export function scenariosIn(file, text) {
	return parse(text).map(({ name, steps }) => ({ file, name, steps }));
}

/** Plays every step, also behind one that failed: each says by itself what it wants. */
export async function playScenario(server, { file, name, steps }) {
	const namespace = `conformance-${randomBytes(5).toString("hex")}`;
	await createNamespace(server, namespace);
	const values = { NAMESPACE: namespace };
	const failures = [];
	try {
		for (const step of steps) {
			const { request, answer, problems } = await playStep(server, step, values);
			if (problems.length > 0) failures.push({ file, scenario: name, step: step.name, request, problems, answer });
		}
	} finally {
		await server.send({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
	}
	return { passed: steps.length - failures.length, failures };
}

/** Once; or, where something takes its time, until the answer is right or the seconds are over. */
async function playStep(server, step, values) {
	const endMs = Date.now() + (step.within ?? 0) * 1000;
	for (;;) {
		const request = substitute(step.request, values);
		const answer = await server.send(request);
		const problems = [...problemsOf(substitute(step.response, values), answer), ...take(step, answer, values)];
		if (problems.length === 0 || Date.now() >= endMs) return { request, answer, problems };
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

async function createNamespace(server, name) {
	const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
	const { status, text } = await server.send({ method: "POST", path: "/api/v1/namespaces", body });
	if (status !== 201) throw new Error(`cannot create the namespace ${name}: ${status} ${text}`);
	const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
	for (const endMs = Date.now() + ACCOUNT_WITHIN_MS; Date.now() < endMs; ) {
		if ((await server.send({ path: account })).status === 200) return;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	throw new Error(`the namespace ${name} got no ServiceAccount "default" in ${ACCOUNT_WITHIN_MS} ms`);
}

function problemsOf(wanted, answer) {
	const { status, headers = {}, text, json, lines } = wanted;
	const names = Object.keys(headers);
	const got = Object.fromEntries(names.map((name) => [name, answer.headers[name.toLowerCase()]]));
	return [
		...mismatches(status, answer.status, "status"),
		...mismatches(headers, got, "headers"),
		...(text === undefined ? [] : mismatches(text, answer.text, "text")),
		...(json === undefined ? [] : mismatches(json, parsed(answer.text), "json")),
		...(lines === undefined ? [] : mismatches(lines, answer.text.trim().split("\n").map(parsed), "lines")),
	];
}

/** What is no JSON stays text, and so matches no object. */
function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

/** Keeps what later steps need. */
function take({ capture = {}, captureHeaders = {} }, answer, values) {
	const found = [
		...Object.entries(capture).map(([name, pointer]) => [name, valueAt(parsed(answer.text), pointer), pointer]),
		...Object.entries(captureHeaders).map(([name, header]) => [name, answer.headers[header.toLowerCase()], header]),
	];
	for (const [name, value] of found) if (value !== undefined) values[name] = value;
	return found
		.filter(([, value]) => value === undefined)
		.map(([name, value, from]) => ({ at: `capture ${from}`, wanted: `a value for $${name}`, got: value }));
}

/** A failure for people: where, what was asked, each difference. */
export function failureText({ file, scenario, step, request, problems, answer }) {
	const { method = "GET", path: target, body } = request;
	const asked = body === undefined ? "" : ` ${cut(typeof body === "string" ? body : JSON.stringify(body))}`;
	const lines = problems.map(
		({ at, wanted, got }) =>
			`    ${at}\n      wanted ${JSON.stringify(wanted)}\n      got    ${cut(JSON.stringify(got))}`,
	);
	const head = `${file}: ${scenario}: ${step}\n  ${method} ${target}${asked}`;
	return [head, ...lines, `    answer ${answer.status} ${cut(answer.text.trim())}`].join("\n");
}

const SHOWN_MAX = 1500;

function cut(text = "nothing") {
	return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
