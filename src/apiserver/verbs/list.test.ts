import { beforeEach, describe, expect, test } from "vitest";
import { type AnswerJson, type TestResponse, TestServer } from "../../testing/test-server.ts";

const NS = "/api/v1/namespaces/default";
const PODS = `${NS}/pods`;
const ALL_PODS = "/api/v1/pods";
const FORBIDDEN = 'ListOptions.meta.k8s.io "" is invalid: ';

let server: TestServer;
/** Revisions: before `a`; with `a`; with `b`; with both and `a` relabelled; now, with `c`. */
let rv: { readonly none: number; readonly a: number; readonly b: number; readonly newA: number; readonly now: number };

async function write(method: string, path: string, body: object): Promise<number> {
	const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
	const { status, json } = await server.request(method, path, { body, contentType });
	expect(status).toBeLessThan(300);
	return Number(json.metadata.resourceVersion);
}

const create = (name: string, namespace = "default", labels: object = {}): Promise<number> =>
	write("POST", `/api/v1/namespaces/${namespace}/pods`, {
		metadata: { name, labels },
		spec: { containers: [{ name: "c", image: "i" }] },
	});

beforeEach(async () => {
	server = await TestServer.start();
	const none = server.store.revision;
	rv = {
		none,
		a: await create("a"),
		b: await create("b"),
		newA: await write("PATCH", `${PODS}/a`, { metadata: { labels: { new: "yes" } } }),
		now: await create("c"),
	};
});

const list = (query: string, path = PODS): Promise<TestResponse> => server.request("GET", `${path}?${query}`);

/** `a b @107`, with `+` for each label, and `...` when there is more. */
function shown({ items = [], metadata }: AnswerJson): string {
	const names = items.map(({ metadata: { name, labels = {} } }) => name + "+".repeat(Object.keys(labels).length));
	return [...names, `@${metadata.resourceVersion}`, ...(metadata.continue === undefined ? [] : ["..."])].join(" ");
}

describe("a list", () => {
	test("has the kind and version of its items, an empty one too", async () => {
		const { json } = await list("");
		expect(json).toMatchObject({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(rv.now) } });
		expect(json.items?.[0]).toMatchObject({ kind: "Pod", apiVersion: "v1" });
		const empty = await server.request("GET", "/apis/apps/v1/namespaces/none/deployments");
		expect(empty.json).toEqual({
			kind: "DeploymentList",
			apiVersion: "apps/v1",
			metadata: { resourceVersion: String(rv.now) },
			items: [],
		});
	});

	test("is ordered by namespace, then by name, by bytes", async () => {
		for (const name of ["x", "x-y"]) await write("POST", "/api/v1/namespaces", { metadata: { name } });
		await create("b", "x-y");
		await create("z", "x");
		await create("a-1", "x");
		await create("a.1", "x");
		await create("a", "x");
		const { items = [] } = (await list("", ALL_PODS)).json;
		expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(" ")).toBe(
			"default/a default/b default/c x-y/b x/a x/a-1 x/a.1 x/z",
		);
	});

	test.each([
		["labelSelector=new", "a+"],
		["labelSelector=!new", "b c"],
		["labelSelector=new%3Dyes", "a+"],
		["labelSelector=new!%3Dyes", "b c"],
		["labelSelector=new+in+(yes,no)", "a+"],
		["labelSelector=new+notin+(yes)", "b c"],
		["labelSelector=", "a+ b c"],
		["fieldSelector=metadata.name%3Db", "b"],
		["fieldSelector=metadata.name!%3Db", "a+ c"],
		["fieldSelector=metadata.name%3Db,metadata.namespace%3Ddefault", "b"],
		["fieldSelector=metadata.namespace%3Dx", ""],
		["fieldSelector=spec.nodeName%3D", "a+ b c"],
		["fieldSelector=status.phase%3DPending,metadata.name!%3Dc&labelSelector=new", "a+"],
		["labelSelector=new&unknown=parameter&export=false", "a+"],
	])("of ?%s is %j", async (query, names) => {
		expect(shown((await list(query)).json)).toBe(`${names} @${rv.now}`.trim());
	});

	test.each([
		["labelSelector=a+b", 400, "unable to parse requirement"],
		["labelSelector=a+in+b", 400, "unable to parse requirement"],
		["labelSelector=-bad-%3Dx", 400, ""],
		["fieldSelector=spec.foo%3D1", 400, "field label not supported: spec.foo"],
		["fieldSelector=constructor%3D1", 400, "field label not supported: constructor"],
		["fieldSelector=noequals", 400, ""],
		["limit=x", 400, "invalid syntax"],
		["limit=1.5", 400, "invalid syntax"],
		["resourceVersion=x", 400, 'invalid resource version: "x"'],
		["resourceVersion=-1", 400, "invalid resource version"],
		["resourceVersion=1e3", 400, "invalid resource version"],
		["timeout=x", 400, "invalid timeout specified in the request URL"],
		["continue=nonsense", 400, "invalid continue token"],
		["continue=e30", 400, "invalid continue token"],
	])("of ?%s is refused", async (query, code, text) => {
		const { status, json } = await list(query);
		expect([status, json.message]).toEqual([code, expect.stringContaining(text)]);
	});

	test.each(["timeout=32s", "timeout=1m30s", "timeout=0s", "timeout=0", "timeout=1.5h", "timeout="])(
		"of ?%s is answered",
		async (query) => {
			expect((await list(query)).status).toBe(200);
		},
	);
});

describe("resourceVersion of a list", () => {
	const Now = "a+ b c";
	test.each([
		// [limit, resourceVersion, resourceVersionMatch, what]; `rv` names one of the revisions above.
		["", "", "", Now, "now"],
		["", "0", "", Now, "now"],
		["", "b", "", Now, "now"],
		["", "b", "Exact", "a b", "b"],
		["", "newA", "Exact", "a+ b", "newA"],
		["", "none", "Exact", "", "none"],
		["", "now", "Exact", Now, "now"],
		["", "b", "NotOlderThan", Now, "now"],
		["", "0", "NotOlderThan", Now, "now"],
		["1", "", "", "a+ ...", "now"],
		["1", "0", "", Now, "now"],
		["1", "b", "", "a ...", "b"],
		["1", "b", "Exact", "a ...", "b"],
		["1", "b", "NotOlderThan", "a+ ...", "now"],
		["2", "b", "", "a b", "b"],
		["3", "", "", Now, "now"],
		["0", "", "", Now, "now"],
		["-1", "", "", Now, "now"],
		["0", "b", "", Now, "now"],
	] as const)("limit %j, version %j, match %j gives %j as of %s", async (limit, version, match, names, asOf) => {
		const resourceVersion = version === "" || version === "0" ? version : String(rv[version]);
		const query = `limit=${limit}&resourceVersion=${resourceVersion}&resourceVersionMatch=${match}`;
		const [before = "", more] = names.split(" ...");
		expect(shown((await list(query)).json)).toBe(`${before} @${rv[asOf]}${more === undefined ? "" : " ..."}`.trim());
	});

	test.each([
		[
			"resourceVersionMatch=Exact",
			"resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
		],
		[
			"resourceVersionMatch=Exact&resourceVersion=0",
			'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
		],
		[
			"resourceVersionMatch=Nearly&resourceVersion=1",
			'resourceVersionMatch: Unsupported value: "Nearly": supported values: "Exact", "NotOlderThan", ""',
		],
		["sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
		[
			"sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
			"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
		],
	])("?%s is Invalid", async (query, message) => {
		const { status, json } = await list(query);
		expect([status, json.reason, json.message]).toEqual([422, "Invalid", FORBIDDEN + message]);
	});

	test("with continue: 0 is the token's, another is BadRequest, a match is Invalid", async () => {
		const token = String((await list(`limit=1&resourceVersion=${rv.b}`)).json.metadata.continue);
		const next = `continue=${token}&limit=1`;
		expect(shown((await list(next)).json)).toBe(`b @${rv.b}`);
		expect(shown((await list(`${next}&resourceVersion=0`)).json)).toBe(`b @${rv.b}`);
		const other = await list(`${next}&resourceVersion=${rv.b}`);
		const why = "specifying resource version is not allowed when using continue";
		expect([other.status, other.json.message]).toEqual([400, why]);
		for (const match of ["Exact", "NotOlderThan"]) {
			const { status, json } = await list(`${next}&resourceVersion=${rv.b}&resourceVersionMatch=${match}`);
			const text = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
			expect([status, json.message]).toEqual([422, FORBIDDEN + text]);
		}
	});

	test("a version that is forgotten is Expired, where it is meant exactly", async () => {
		server.store.view.compact(rv.newA);
		const { json } = await list(`resourceVersion=${rv.b}&resourceVersionMatch=Exact`);
		expect(json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message: "The resourceVersion for the provided list is too old.",
			reason: "Expired",
			code: 410,
		});
		expect((await list(`resourceVersion=${rv.b}`)).status).toBe(200);
	});

	test.each([
		["a list", `${PODS}?resourceVersion=`],
		["a get", `${PODS}/a?resourceVersion=`],
		["a streaming list", `${PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=`],
	])("%s of a version yet to come waits three seconds, and is then Timeout", async (_, path) => {
		const answer = server.request("GET", `${path}${rv.now + 5}`);
		await server.clock.advance(2_900);
		let isAnswered = false;
		void answer.then(() => {
			isAnswered = true;
		});
		await server.clock.advance(0);
		expect(isAnswered).toBe(false);
		await server.clock.advance(200);
		const { json, headers } = await answer;
		expect(json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message: `Timeout: Too large resource version: ${rv.now + 5}, current: ${rv.now}`,
			reason: "Timeout",
			details: {
				causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
				retryAfterSeconds: 1,
			},
			code: 504,
		});
		expect(headers["retry-after"]).toBe("1");
	});

	test("of a version yet to come is answered as soon as it is there", async () => {
		const listed = list(`resourceVersion=${rv.now + 2}`);
		const got = server.request("GET", `${PODS}/e?resourceVersion=${rv.now + 2}`);
		await create("d");
		await create("e");
		expect(shown((await listed).json)).toBe(`a+ b c d e @${rv.now + 2}`);
		expect((await got).status).toBe(200);
	});

	test("of a get must be a number", async () => {
		expect((await server.request("GET", `${PODS}/a?resourceVersion=x`)).status).toBe(400);
		expect((await server.request("GET", `${PODS}/a?resourceVersion=18446744073709551616`)).status).toBe(400);
		expect((await server.request("GET", `${PODS}/a?resourceVersion=0`)).status).toBe(200);
	});

	test("that is a number far ahead is too large, not wrong", async () => {
		const ahead = server.request("GET", `${PODS}/a?resourceVersion=99999999999999999`);
		await server.clock.advance(10_000);
		expect((await ahead).json).toMatchObject({
			code: 504,
			message: expect.stringMatching("Too large resource version"),
		});
	});

	test("of a get does not come with export", async () => {
		expect((await server.request("GET", `${PODS}/a?export=true`)).status).toBe(400);
	});
});

describe("pages", () => {
	/** Every page of the list, from the query of the first. */
	async function pages(first: string, between: () => Promise<unknown> = async () => undefined): Promise<AnswerJson[]> {
		const all = [(await list(first)).json];
		for (;;) {
			const token = all.at(-1)?.metadata.continue;
			if (token === undefined) return all;
			await between();
			all.push((await list(`${first}&continue=${encodeURIComponent(token)}`)).json);
		}
	}

	test("are of one state, whatever is written meanwhile", async () => {
		let n = 0;
		const all = await pages("limit=1", async () => {
			n++;
			await create(`b${n}`);
			await write("PATCH", `${PODS}/c`, { metadata: { labels: { n: String(n) } } });
			if (n === 1) await server.request("DELETE", `${PODS}/b`);
		});
		expect(all.map(shown)).toEqual([`a+ @${rv.now} ...`, `b @${rv.now} ...`, `c @${rv.now}`]);
		expect(all.map(({ metadata }) => metadata.remainingItemCount)).toEqual([2, 1, undefined]);
	});

	test("with a selector do not say how many remain", async () => {
		const all = await pages("limit=1&labelSelector=!new");
		expect(all.map(shown)).toEqual([`b @${rv.now} ...`, `c @${rv.now}`]);
		expect(all[0]?.metadata.remainingItemCount).toBeUndefined();
	});

	test("go over namespaces", async () => {
		await write("POST", "/api/v1/namespaces", { metadata: { name: "x" } });
		await create("a", "x");
		const first = (await list("limit=3", ALL_PODS)).json;
		expect(shown(first)).toContain("a+ b c");
		const token = String(first.metadata.continue);
		const { items = [] } = (await list(`limit=3&continue=${token}`, ALL_PODS)).json;
		expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(["x/a"]);
		// A token cannot reach out of the namespace that is asked for.
		expect((await list(`continue=${token}`, "/api/v1/namespaces/kube-system/pods")).json.items).toEqual([]);
	});

	test("whose state is forgotten are Expired, with a token that goes on in the newest state", async () => {
		const token = String((await list("limit=1")).json.metadata.continue);
		await create("bb");
		server.store.view.compact(server.store.revision);
		const { status, json } = await list(`limit=1&continue=${token}`);
		expect([status, json.reason]).toEqual([410, "Expired"]);
		const fresh = await list(`limit=2&continue=${String(json.metadata.continue)}`);
		expect(shown(fresh.json)).toBe(`b bb @${server.store.revision} ...`);
	});

	test.each([
		["of the future", { v: "meta.k8s.io/v1", rv: 9_999, start: "default/a" }],
		["without a start", { v: "meta.k8s.io/v1", rv: 100 }],
		["with a version that is no number", { v: "meta.k8s.io/v1", rv: "1", start: "x" }],
	])("with a forged token %s are BadRequest", async (_, token) => {
		const { status, json } = await list(`continue=${btoa(JSON.stringify(token))}`);
		expect([status, json.message]).toEqual([400, expect.stringContaining("invalid continue token")]);
	});
});

describe("HEAD", () => {
	test.each([PODS, `${PODS}/a`, `${PODS}/a/status`, "/version"])("of %s is answered like GET", async (path) => {
		const head = await server.request("HEAD", path);
		const get = await server.request("GET", path);
		expect([head.status, head.headers["content-type"]]).toEqual([get.status, get.headers["content-type"]]);
	});
});

describe("paths", () => {
	test.each([
		[`${PODS}/`, 200],
		["/api/v1/namespaces/default/po%64s", 200],
		["/api/v1//namespaces/default/pods", 200],
		[`${PODS}/%61`, 200],
		[`${PODS}/a%2Fb`, 400],
		[`${PODS}/%2E%2E`, 400],
		[`${PODS}/..`, 400],
		[`${PODS}/.`, 400],
		[`${PODS}/a%25b`, 400],
		[`${PODS}/%zz`, 400],
		[`${PODS}/%`, 400],
		[`${PODS}/%c3%28`, 400],
		[`${PODS}/%00`, 404],
		[`${PODS}/${"a".repeat(5_000)}`, 404],
		["/api/v1/namespaces/..%2Fx/pods", 400],
		["/api/v1/namespaces/__proto__/pods", 200],
		["/api/v1/namespaces/none/pods", 200],
		["/api/v1/namespaces/none", 404],
		["/api/v1/namespaces/none/status", 404],
		["/healthz/../api/v1/pods", 404],
	])("GET %s is answered %i", async (path, status) => {
		expect((await server.request("GET", path)).status).toBe(status);
	});
});
