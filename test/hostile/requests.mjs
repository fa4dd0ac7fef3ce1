/**
 * Requests of somebody who means harm, or does not know what they do: a kind and its bytes, by a seeded generator.
 *
 * Each says what it must be answered with. `cut` is a connection that ends without an answer, where no answer can be
 * given: to bytes that are no TLS, say.
 */

const MIB = 2 ** 20;
const NAMESPACE = "/api/v1/namespaces/default";
const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const CUT = "cut";

/** mulberry32: the same numbers for the same seed everywhere. */
export function seededRandom(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

/** The bytes of one request of HTTP/1.1 that closes its connection. */
function http(method, path, { headers = [], body = "", length, host = "127.0.0.1" } = {}) {
	const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
	const lines = [
		`${method} ${path} HTTP/1.1`,
		...(host === undefined ? [] : [`Host: ${host}`]),
		"Connection: close",
		"Authorization: Bearer $TOKEN",
		...headers,
		...(bytes.length > 0 || length !== undefined ? [`Content-Length: ${length ?? bytes.length}`] : []),
	];
	return { head: `${lines.join("\r\n")}\r\n\r\n`, body: bytes };
}

function post(plural, body, type = JSON_TYPE, query = "") {
	return http("POST", `${NAMESPACE}/${plural}${query}`, { headers: [`Content-Type: ${type}`], body });
}

function patch(body, type) {
	return http("PATCH", `${NAMESPACE}/services/kept`, { headers: [`Content-Type: application/${type}+json`], body });
}

const get = (path) => http("GET", path);
const service = (spec, metadata = {}) => JSON.stringify({ metadata: { name: "bad", ...metadata }, spec });
const listing = (query) => get(`${NAMESPACE}/services?${query}`);
const nested = (open, close, depth) => open.repeat(depth) + close.repeat(depth);

/** What each kind may be, and what all of its kind must be answered with. */
const KINDS = {
	oversized: (pick, size) => [
		["a body of many MiB", post("services", Buffer.alloc(4 * MIB + size * 256, " ")), [413]],
		[
			"a body that is said to be endless",
			{ ...http("POST", `${NAMESPACE}/services`, { length: 1e12 }), more: 1_000 },
			[413],
		],
		["chunks without end", chunked(4 * MIB + size * 64), [413]],
		[
			"YAML beyond its limit",
			post("services", `metadata: {name: bad}\n${"#".repeat(600_000 + size)}`, YAML_TYPE),
			[413],
		],
		["annotations beyond 256 KiB", post("services", service({}, { annotations: { a: "x".repeat(262_145) } })), [422]],
		[
			"thousands of ports",
			post("services", service({ ports: Array.from({ length: 20_000 }, () => ({ port: 80 })) })),
			[422],
		],
		[
			"a name of many characters",
			post("services", service({ ports: [{ port: 80 }] }, { name: `${"a".repeat(size * 40)}-` })),
			[422],
		],
		[
			"thousands of patches",
			patch(
				JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "Service" }))),
				"json-patch",
			),
			[413],
		],
		["thousands of owners that all control", post("configmaps", controllers(20_000)), [422]],
		[
			"thousands of labels that are none",
			post(
				"services",
				service({}, { labels: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`-${i}`, "-"])) }),
			),
			[422],
		],
		["a query beyond the headers' limit", listing(`labelSelector=${"a".repeat(100_000)}`), [431]],
		[pick(["a header", "a cookie"]), http("GET", "/api", { headers: [`Cookie: ${"a".repeat(70_000 + size)}`] }), [431]],
		[
			"thousands of headers",
			http("GET", "/api", { headers: Array.from({ length: 3_000 }, (_, i) => `X-${i}: ${i}`) }),
			[431],
		],
	],
	deep: (_pick, size) => [
		[
			"nested objects",
			post("services", `{"metadata":${nested('{"a":', "}", 50_000 + size).replace("{}", "{1}")}}`),
			[400],
		],
		["nested arrays", post("services", nested("[", "]", 100_000 + size)), [400]],
		[
			"nested fieldsV1",
			post(
				"services",
				`{"metadata":{"name":"bad","managedFields":[{"fieldsV1":${'{"f:a":'.repeat(10_000)}{}${"}".repeat(10_000)}}]}}`,
			),
			[400],
		],
		["nested YAML", post("services", `a: ${nested("[", "]", 10_000 + size)}`, YAML_TYPE), [400]],
		["nested brackets of a selector", listing(`labelSelector=${"(".repeat(2_000 + size)}`), [400]],
		[
			"nested messages",
			post("services", Buffer.concat([envelope(Buffer.from("0a".repeat(500 + size), "hex"))]), PROTOBUF_TYPE),
			[400],
		],
	],
	prototypes: (pick) => [
		[
			"a path of a patch",
			patch(
				JSON.stringify([
					{
						op: "add",
						path: pick(["/__proto__/polluted", "/metadata/__proto__/polluted", "/constructor/prototype/polluted"]),
						value: "yes",
					},
				]),
				"json-patch",
			),
			[400, 422],
		],
		[
			"a copy of a patch",
			patch(JSON.stringify([{ op: "copy", from: "/__proto__", path: "/metadata/labels" }]), "json-patch"),
			[400, 422],
		],
		[
			"a label",
			post("services", '{"metadata":{"name":"bad","labels":{"__proto__":"yes"}},"spec":{"ports":[{"port":80}]}}'),
			[422],
		],
		[
			"a field, strictly",
			post(
				"services",
				'{"metadata":{"name":"bad"},"__proto__":{"polluted":"yes"},"spec":{"ports":[{"port":80}]}}',
				JSON_TYPE,
				"?fieldValidation=Strict",
			),
			[400],
		],
		[
			"a name in a path",
			get(
				`/api/v1/namespaces/__proto__/${pick(["services", "pods"])}/${pick(["__proto__", "constructor", "toString"])}`,
			),
			[400, 404],
		],
		["a resource", get(`${NAMESPACE}/${pick(["__proto__", "constructor", "hasOwnProperty", "toString"])}`), [404]],
		["a group", get(`/apis/${pick(["__proto__", "constructor"])}/v1/things`), [404]],
		[
			"a kind",
			post(
				"services",
				JSON.stringify({ apiVersion: "v1", kind: pick(["__proto__", "constructor"]), metadata: { name: "bad" } }),
			),
			[400],
		],
		[
			"a key of a selector",
			listing(`fieldSelector=${pick(["__proto__", "constructor", "metadata.__proto__"])}%3Da`),
			[400],
		],
	],
	patterns: (pick, size) => [
		["a selector of one long word", listing(`labelSelector=${"a".repeat(5_000 + size)}%21`), [400]],
		["a selector of signs", listing(`labelSelector=${pick(["%21", "%3D", "%2C"]).repeat(2_000)}`), [400]],
		["a set without end", listing(`labelSelector=a+in+%28${"b%2C".repeat(2_000)}`), [400]],
		["spaces", listing(`labelSelector=a${"+".repeat(5_000 + size)}b`), [400]],
		["a field selector of backslashes", listing(`fieldSelector=metadata.name%3D${"%5C".repeat(2_001)}`), [400]],
		["an endless resourceVersion", listing(`resourceVersion=${"9".repeat(5_000)}`), [400]],
		["a continue token of noise", listing(`limit=1&continue=${"A".repeat(4_000 + size)}`), [400]],
		[
			"a quantity",
			post(
				"pods",
				JSON.stringify({
					metadata: { name: "bad" },
					spec: {
						containers: [
							{ name: "c", image: "i", resources: { requests: { cpu: `${"1".repeat(100_000)}e${"9".repeat(100)}x` } } },
						],
					},
				}),
			),
			[400, 422],
		],
		[
			"an address",
			post(
				"endpoints",
				JSON.stringify({
					metadata: { name: "bad" },
					subsets: [{ addresses: [{ ip: "1.".repeat(50_000) }], ports: [{ port: 80 }] }],
				}),
			),
			[422],
		],
		[
			"an IPv6 address",
			post(
				"endpoints",
				JSON.stringify({
					metadata: { name: "bad" },
					subsets: [{ addresses: [{ ip: ":".repeat(50_000) }], ports: [{ port: 80 }] }],
				}),
			),
			[422],
		],
		["a name of a port", post("services", service({ ports: [{ port: 80, name: `${"a-".repeat(50_000)}!` }] })), [422]],
		["a time", post("services", `{"metadata":{"name":"bad","creationTimestamp":"${"2".repeat(50_000)}"}}`), [400]],
		[
			"bytes that are no base64",
			post("secrets", JSON.stringify({ metadata: { name: "bad" }, data: { a: `${"A".repeat(50_000)}!` } })),
			[400],
		],
	],
	yaml: (_pick, size) => [
		["a billion laughs", post("services", laughs(9), YAML_TYPE), [400]],
		["an anchor of itself", post("services", "a: &a [*a]", YAML_TYPE), [400]],
		[
			"aliases of aliases",
			post(
				"services",
				`a: &a {b: 1}\n${Array.from({ length: 2_000 + size }, (_, i) => `k${i}: *a`).join("\n")}`,
				YAML_TYPE,
			),
			[400],
		],
		["a tag", post("services", "a: !!js/function 'function () {}'", YAML_TYPE), [400, 422]],
		["two documents", post("services", "a: 1\n---\nb: 2\n", YAML_TYPE), [400]],
		["a tab", post("services", "metadata:\n\tname: bad", YAML_TYPE), [400]],
		["many keys", post("services", many(20_000 + size, (i) => `k${i}: v`).join("\n"), YAML_TYPE), [422]],
		["lines that go on", post("services", `a: "${"\\\n".repeat(20_000 + size)}"`, YAML_TYPE), [400, 413]],
		["quotes without end", post("services", `a: "${"x".repeat(10_000)}`, YAML_TYPE), [400]],
		["a sequence", post("services", "- a\n".repeat(1_000), YAML_TYPE), [400]],
	],
	protobuf: (_pick, _size, random) => [
		["noise", post("services", envelope(noise(random, 200)), PROTOBUF_TYPE), [400, 422]],
		["noise without an envelope", post("services", noise(random, 200), PROTOBUF_TYPE), [400]],
		["a length beyond the end", post("services", Buffer.from("6b3873000affffffff7f", "hex"), PROTOBUF_TYPE), [400]],
		["a number without end", post("services", Buffer.from(`6b387300${"ff".repeat(64)}`, "hex"), PROTOBUF_TYPE), [400]],
		["JSON that says it is protobuf", post("services", service({}), PROTOBUF_TYPE), [400]],
	],
	bodies: (_pick, _size, random) => [
		["noise", post("services", noise(random, 500)), [400]],
		["half of an object", post("services", '{"metadata":{"name":"bad"'), [400]],
		[
			"text that is no UTF-8",
			post(
				"services",
				Buffer.concat([Buffer.from('{"metadata":{"name":"'), Buffer.from([0xc0, 0xaf, 0xff]), Buffer.from('"}}')]),
			),
			[400, 422],
		],
		[
			"a number beyond numbers",
			post("services", service({ ports: [{ port: 1e308 }] }).replace("1e+308", "1e999999")),
			[400],
		],
		[
			"a form of no kind",
			http("POST", `${NAMESPACE}/services`, { headers: ["Content-Type: text/x-evil"], body: "x" }),
			[415],
		],
		[
			"compressed noise",
			http("POST", `${NAMESPACE}/services`, {
				headers: [`Content-Type: ${JSON_TYPE}`, "Content-Encoding: gzip"],
				body: noise(random, 200),
			}),
			[400, 415],
		],
		["a list as an object", post("services", "[]"), [400]],
		["null", post("services", "null"), [400]],
		[
			"a patch of no kind",
			http("PATCH", `${NAMESPACE}/services/kept`, { headers: ["Content-Type: text/plain"], body: "x" }),
			[415],
		],
		["a patch that is none", patch('{"a":', "merge-patch"), [400]],
		["a strategic patch with wrong lists", patch('{"spec":{"ports":"none"}}', "strategic-merge-patch"), [400, 422]],
	],
	http: (pick) => [
		["a method of no kind", raw("EVIL / HTTP/1.1\r\nHost: x\r\n\r\n"), [400]],
		["a version of no kind", raw(`GET /api HTTP/${pick(["9.9", "x", "1.1.1"])}\r\nHost: x\r\n\r\n`), [400, 505]],
		["a header without a colon", raw("GET /api HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n"), [400]],
		["a space before the colon", raw("GET /api HTTP/1.1\r\nHost : x\r\n\r\n"), [400]],
		["NUL in a header", raw("GET /api HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"), [400]],
		[
			"two lengths",
			raw(`POST ${NAMESPACE}/services HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
			[400],
		],
		[
			"a length and chunks",
			raw(
				`POST ${NAMESPACE}/services HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
			),
			[400],
		],
		[
			"a length that is none",
			raw(`POST ${NAMESPACE}/services HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n`),
			[400],
		],
		[
			"a chunk that is none",
			raw(
				`POST ${NAMESPACE}/services HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer $TOKEN\r\nContent-Type: ${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`,
			),
			[400],
		],
		["no host", raw("GET /api HTTP/1.1\r\n\r\n"), [400]],
		[
			"a host of somebody else's",
			http("GET", "/api", { host: pick(["evil.example", "127.0.0.1.evil.example", "localhost.evil"]) }),
			[421],
		],
		["HTTP/2 without asking", raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), [400, 505]],
		["noise inside TLS", raw("\x16\x03\x01\x02\x00\x01\x00".repeat(10)), [400]],
		[
			"an upgrade to nothing",
			http("GET", `${NAMESPACE}/pods/none/exec`, {
				headers: ["Connection: Upgrade", `Upgrade: ${pick(["websocket", "SPDY/3.1", "h2c", "evil"])}`],
			}),
			[400, 403, 404, 405, 501],
		],
	],
	paths: (pick) => [
		["dots", get(`/api/v1/namespaces/${pick(["..", "%2e%2e", "..%2f..", ".%2e"])}/services`), [400, 404]],
		["NUL", get(`${NAMESPACE}/services/a%00b`), [400, 404]],
		["an escape that is none", get(`${NAMESPACE}/services/%${pick(["zz", "", "u0041", "c0%ae"])}`), [400, 404]],
		["slashes", get("//api///v1//namespaces////none//services/none"), [400, 404]],
		["a backslash", get(`${NAMESPACE}\\services`), [400, 404]],
		["a whole URL", get("http://evil.example/api"), [400, 404, 421]],
		["a whole URL of another scheme", get("ftp://127.0.0.1/api"), [400]],
		["CONNECT", http("CONNECT", "127.0.0.1:22"), [405]],
		[
			"a path of a file",
			get(pick(["/etc/passwd", "/../../etc/passwd", "/.git/config", "/proc/self/environ"])),
			[400, 404],
		],
		[
			"a method that the path does not know",
			http(pick(["TRACE", "OPTIONS", "PROPFIND", "LOCK"]), `${NAMESPACE}/services`),
			[400, 404, 405],
		],
		["deep inside a resource", get(`${NAMESPACE}/services/kept/${"a/".repeat(1_000)}`), [400, 404]],
		["a watch of garbage", listing(`watch=true&resourceVersion=${pick(["-1", "abc", "1.5", "%00"])}`), [400]],
		["a limit of garbage", listing(`limit=${pick(["1e99", "abc", "99999999999999999999"])}`), [400]],
		["a time of garbage", listing(`timeout=${pick(["-1s", "abc", "1x"])}`), [400]],
	],
	credentials: (pick, size) => [
		["a wrong token", withToken("guessed"), [401]],
		["a long token", withToken("a".repeat(8_000)), [401]],
		["a token that signs itself", withToken(jwt({ alg: "none" }, { sub: "system:admin" }, "")), [401]],
		["a token with a header of noise", withToken(`${"A".repeat(size)}.${"B".repeat(size)}.${"C".repeat(size)}`), [401]],
		[
			"a token of another",
			withToken(
				jwt(
					{ alg: pick(["HS256", "ES256", "RS256"]), kid: "../../key" },
					{
						iss: "https://kubernetes.default.svc.cluster.local",
						sub: "system:serviceaccount:kube-system:default",
						aud: ["x"],
					},
					"AAAA",
				),
			),
			[401],
		],
		[
			"a group without a user",
			http("GET", "/api", { headers: ["Impersonate-Group: system:masters"] }),
			[400, 403, 500],
		],
		["more of a user without a user", http("GET", "/api", { headers: ["Impersonate-Extra-scopes: view"] }), [400]],
		[
			"a user behind thousands of headers",
			http("GET", "/api", { headers: [...many(2_100, () => "x:"), "Impersonate-User: nobody"] }),
			[431],
		],
		["a role that stands for a billion rights", largeRole(1_000), [403]],
	],
	lists: (pick, size) => [...longObjects(2_000 + size), ...longChanges(2_000 + size, pick)],
	plain: (_pick, _size, random) => [
		["HTTP without TLS", { ...raw("GET /api HTTP/1.1\r\nHost: x\r\n\r\n"), noTls: true }, [CUT]],
		["noise without TLS", { ...raw(noise(random, 2_000).toString("latin1")), noTls: true }, [CUT]],
		["half a handshake", { ...raw("\x16\x03\x01\x00\xa5\x01"), noTls: true, isHalfClosed: true }, [CUT]],
	],
	gateway: (pick, _size, random) => [
		["noise", toGateway(noise(random, 500).map((byte, index) => (index === 0 ? byte | 64 : byte))), [400, CUT]],
		["SOCKS with a wrong password", toGateway(Buffer.from([5, 1, 2, 1, 1, 97, 1, 98])), [CUT]],
		["SOCKS of another version", toGateway(Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])), [400, CUT]],
		[
			"CONNECT without credentials",
			toGateway(`CONNECT 127.0.0.1:${pick([22, 80, 6443])} HTTP/1.1\r\nHost: x\r\n\r\n`),
			[407],
		],
		[
			"a request without credentials",
			toGateway("GET http://kubernetes.default.svc/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
			[407],
		],
		[
			"thousands of headers",
			toGateway(`GET http://web/ HTTP/1.1\r\n${"A: b\r\n".repeat(10_000)}\r\n`),
			[400, 407, 431],
		],
	],
	slow: () => [
		[
			"headers, a byte at a time",
			{ head: `GET /api HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(500)}`, body: Buffer.alloc(0), everyMs: 200 },
			[408, CUT],
		],
		[
			"a body, a byte at a time",
			{
				...http("POST", `${NAMESPACE}/services`, { headers: [`Content-Type: ${JSON_TYPE}`], length: 1_000 }),
				slowBody: " ".repeat(900),
				everyMs: 200,
			},
			[400, 408, CUT],
		],
		["silence", { head: "", body: Buffer.alloc(0), isSilent: true }, [408, CUT]],
	],
};

/** Only one owner may be the controller: each other one is an error. */
function controllers(count) {
	const owner = (i) => ({ apiVersion: "v1", kind: "Pod", name: "p", uid: `${i}`, controller: true });
	return JSON.stringify({ metadata: { name: "bad", ownerReferences: many(count, owner) } });
}

/** Of somebody who may write roles, and holds none of this. */
function largeRole(count) {
	const words = (prefix) => many(count, (i) => `${prefix}${i}`);
	return http("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles?dryRun=All", {
		headers: [`Content-Type: ${JSON_TYPE}`, "Impersonate-User: hostile-admin"],
		body: JSON.stringify({
			metadata: { name: "bad" },
			rules: [{ apiGroups: words("g"), resources: words("r"), verbs: words("v") }],
		}),
	});
}

const many = (count, of) => Array.from({ length: count }, (_, index) => of(index));
const longPorts = (count) => many(count, (i) => ({ name: `p${i}`, port: i + 1 }));

/** Right, and long: what is done with each item for each other one takes minutes. */
function longObjects(count) {
	const address = (index) => `10.1.${index >> 8}.${index & 255}`;
	const made = (plural, metadata, more) =>
		post(plural, JSON.stringify({ metadata: { name: "long", ...metadata }, ...more }), JSON_TYPE, "?dryRun=All");
	const container = { name: "c", image: "i" };
	const ports = [{ port: 1 }];
	const owner = (index) => ({ apiVersion: "v1", kind: "Pod", name: "p", uid: `${index}` });
	const writer = (index) => ({
		manager: `m${index}`,
		operation: index % 2 === 0 ? "Update" : "Apply",
		apiVersion: "v1",
		fieldsType: "FieldsV1",
		fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
	});
	const finalizers = many(count, (i) => `example.com/f${i}`);
	return [
		["ports", made("services", {}, { spec: { ports: longPorts(count) } })],
		["addresses", made("endpoints", {}, { subsets: [{ addresses: many(count, (i) => ({ ip: address(i) })), ports }] })],
		["subsets", made("endpoints", {}, { subsets: many(count, (i) => ({ addresses: [{ ip: address(i) }], ports })) })],
		["containers", made("pods", {}, { spec: { containers: many(count, (i) => ({ name: `c${i}`, image: "i" })) } })],
		[
			"variables",
			made(
				"pods",
				{},
				{ spec: { containers: [{ ...container, env: many(count, (i) => ({ name: `v${i}`, value: "x" })) }] } },
			),
		],
		["owners", made("configmaps", { ownerReferences: many(count, owner) })],
		["who wrote the fields", made("configmaps", { managedFields: many(count, writer) })],
		["finalizers", made("configmaps", { finalizers })],
		["the same finalizer", made("configmaps", { finalizers: many(count, () => "example.com/f") })],
	].map(([what, request]) => [what, request, [201]]);
}

function longChanges(count, pick) {
	const change = (query, type, object) =>
		http("PATCH", `${NAMESPACE}/services/kept?dryRun=All${query}`, {
			headers: [`Content-Type: application/${type}`],
			body: JSON.stringify(object),
		});
	const spec = { ports: longPorts(count) };
	const applied = { apiVersion: "v1", kind: "Service", metadata: { name: "kept" }, spec };
	const manager = `&force=true&fieldManager=${pick(["a", "b"])}`;
	return [
		["a patch of a list", change("", "strategic-merge-patch+json", { spec }), [200, 422]],
		["an apply of a list", change(manager, "apply-patch+yaml", applied), [200, 422]],
		["labels", listing(`labelSelector=${many(1_500, (i) => `k${i}`).join("%2C")}`), [200]],
	];
}

/** Few: each takes as long as it is let. */
const SLOW_SHARE = 0.03;

function raw(text) {
	return { head: "", body: Buffer.from(text, "latin1") };
}

function toGateway(bytes) {
	return { head: "", body: Buffer.from(bytes), isForGateway: true };
}

function withToken(token) {
	return {
		head: `GET /api HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`,
		body: Buffer.alloc(0),
	};
}

function jwt(header, claims, signature) {
	const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
	return `${part(header)}.${part(claims)}.${signature}`;
}

function chunked(bytes) {
	const chunk = Buffer.alloc(65_536, " ");
	const frames = Array.from({ length: Math.ceil(bytes / chunk.length) }, () =>
		Buffer.concat([Buffer.from("10000\r\n"), chunk, Buffer.from("\r\n")]),
	);
	const { head } = http("POST", `${NAMESPACE}/services`, {
		headers: [`Content-Type: ${JSON_TYPE}`, "Transfer-Encoding: chunked"],
	});
	return { head, body: Buffer.concat([...frames, Buffer.from("0\r\n\r\n")]) };
}

function laughs(levels) {
	const lines = ["l0: &l0 [lol, lol]"];
	for (let level = 1; level <= levels; level++) {
		const before = `*l${level - 1}`;
		lines.push(`l${level}: &l${level} [${Array.from({ length: 10 }, () => before).join(", ")}]`);
	}
	return lines.join("\n");
}

function envelope(object) {
	const field = (number, bytes) => Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes]);
	const type = Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("Service"))]);
	return Buffer.concat([Buffer.from("6b387300", "hex"), field(1, type), field(2, object)]);
}

function varint(value) {
	const bytes = [];
	for (let rest = value; ; rest = Math.floor(rest / 128)) {
		if (rest < 128) return Buffer.from([...bytes, rest]);
		bytes.push((rest % 128) | 128);
	}
}

function noise(random, length) {
	return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

/** @returns {{ what: string, request: object, answers: (number | "cut")[] }[]} */
export function hostileRequests(seed, count, withGateway) {
	const random = seededRandom(seed);
	const pick = (choices) => choices[Math.floor(random() * choices.length)];
	const kinds = Object.keys(KINDS).filter((kind) => kind !== "slow" && (withGateway || kind !== "gateway"));
	return Array.from({ length: count }, () => {
		const kind = random() < SLOW_SHARE ? "slow" : pick(kinds);
		const [what, request, answers] = pick(KINDS[kind](pick, Math.floor(random() * 500), random));
		return { what: `${kind}: ${what}`, request, answers };
	});
}
