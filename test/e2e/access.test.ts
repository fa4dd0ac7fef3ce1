/** Who gets in, and what they may do: every verb of every resource that is served, for everybody who matters. */
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAllowed, MATRIX, SELF } from "./access-matrix.ts";
import { kubectlVersions } from "./kubectl-versions.ts";
import { CACHE, finished, PROGRAM, RunningPlane } from "./plane.ts";
import { credentialsOf } from "./raw-requests.ts";

const [kubectl] = await kubectlVersions(35);
const TOKENS = 'token-of-tom,tom,uid-of-tom,"testers,readers"\ntoken-of-eve,eve,uid-of-eve\n';

interface Answer {
	readonly status: number;
	readonly json: { readonly message?: string; readonly status?: unknown; readonly [key: string]: unknown };
}

interface Asked {
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: unknown;
	/** "" sends no credentials. Default: the kubeconfig's. */
	readonly token?: string;
}

let plane: RunningPlane;
let agent: Agent;
beforeAll(async () => {
	const file = path.join(CACHE, "access-tokens.csv");
	writeFileSync(file, TOKENS, { mode: 0o600 });
	plane = await RunningPlane.start(["--token-auth-file", file, "--nodes", "1"]);
	agent = new Agent({ keepAlive: true, maxSockets: 4, ca: credentialsOf(plane).ca });
});
afterAll(async () => {
	agent.destroy();
	await plane.stop();
});

function ask(target: string, { method = "GET", headers = {}, body, token }: Asked = {}): Promise<Answer> {
	const bearer = token ?? credentialsOf(plane).token;
	const all = {
		...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }),
		...(body === undefined ? {} : { "content-type": "application/json" }),
		...headers,
	};
	const { hostname: host, port } = new URL(plane.url);
	return new Promise((resolve, reject) => {
		const sent = request(
			{ host, port, path: target, method, headers: all, agent, servername: "localhost" },
			(response) => {
				const chunks: Buffer[] = [];
				response.on("data", (chunk) => chunks.push(chunk));
				response.on("end", () => {
					const text = Buffer.concat(chunks).toString();
					resolve({ status: response.statusCode ?? 0, json: text.startsWith("{") ? JSON.parse(text) : {} });
				});
			},
		);
		sent.on("error", reject);
		sent.end(body === undefined ? undefined : JSON.stringify(body));
	});
}

async function make(target: string, body: unknown): Promise<void> {
	const { status, json } = await ask(target, { method: "POST", body });
	expect({ status, message: json.message }).toEqual({ status: 201, message: undefined });
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** In the namespace `default` only. */
function bind(name: string, role: string, user: string): Promise<void> {
	const subject = { kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" };
	return make(`${RBAC}/namespaces/default/rolebindings`, {
		apiVersion: "rbac.authorization.k8s.io/v1",
		kind: "RoleBinding",
		metadata: { name },
		subjects: [subject],
		roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
	});
}

interface Cell {
	readonly verb: string;
	/** `deployments.apps/scale` */
	readonly resource: string;
	readonly path: string;
}

const METHODS: Readonly<Record<string, string>> = {
	get: "GET",
	list: "GET",
	watch: "GET",
	create: "POST",
	update: "PUT",
	patch: "PATCH",
	delete: "DELETE",
	deletecollection: "DELETE",
};
const ON_OBJECTS = new Set(["get", "update", "patch", "delete"]);

/** Every verb of every resource and subresource that discovery names; on objects, of one that is not there. */
async function served(): Promise<readonly Cell[]> {
	const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
	const cells: Cell[] = [];
	for (const root of ["/api", "/apis"]) {
		const { json } = await ask(root, { headers: { accept } });
		for (const { metadata, versions } of json["items"] as readonly DiscoveredGroup[]) {
			for (const { version, resources } of versions) {
				const { name: group = "" } = metadata;
				const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
				for (const one of resources) cells.push(...cellsOf(base, group, one));
			}
		}
	}
	return cells;
}

interface DiscoveredGroup {
	readonly metadata: { readonly name?: string };
	readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
}

interface DiscoveredResource {
	readonly resource: string;
	readonly scope: string;
	readonly verbs: readonly string[];
	readonly subresources?: readonly { readonly subresource: string; readonly verbs: readonly string[] }[];
}

function cellsOf(
	base: string,
	group: string,
	{ resource, scope, verbs, subresources = [] }: DiscoveredResource,
): Cell[] {
	const place = scope === "Namespaced" ? `${base}/namespaces/default/${resource}` : `${base}/${resource}`;
	const name = group === "" ? resource : `${resource}.${group}`;
	// A selector that cannot be read: whoever may ask gets an error, and nothing is selected.
	const nothing = "?labelSelector=((";
	return [
		...verbs.map((verb) => {
			if (ON_OBJECTS.has(verb)) return { verb, resource: name, path: `${place}/missing` };
			const query = verb === "create" ? "" : `${nothing}${verb === "watch" ? "&watch=true" : ""}`;
			return { verb, resource: name, path: `${place}${query}` };
		}),
		...subresources.flatMap((sub) =>
			sub.verbs.map((verb) => ({
				verb,
				resource: `${name}/${sub.subresource}`,
				path: `${place}/missing/${sub.subresource}`,
			})),
		),
	];
}

/** Whether the request got as far as its own faults. */
async function isLetIn(user: string, { verb, path: target }: Cell): Promise<boolean> {
	const { status, json } = await ask(target, { method: METHODS[verb] ?? "", headers: { "impersonate-user": user } });
	const isRefused = status === 403 && (json.message ?? "").includes(`User "${user}" cannot ${verb} resource`);
	return !isRefused;
}

describe("the access matrix", () => {
	let cells: readonly Cell[];
	beforeAll(async () => {
		await bind("viewer", "view", "viewer");
		await bind("editor", "edit", "editor");
		await bind("admin", "admin", "admin");
		await make(`${RBAC}/clusterrolebindings`, {
			metadata: { name: "root" },
			subjects: [{ kind: "User", name: "root" }],
			roleRef: { kind: "ClusterRole", name: "cluster-admin" },
		});
		cells = await served();
	});

	test("has every kind of verb of every resource", () => {
		expect(cells.length).toBeGreaterThan(180);
		expect(new Set(cells.map(({ verb }) => verb))).toEqual(new Set(Object.keys(METHODS)));
	});

	test.each(Object.keys(MATRIX))("%s may do what the table says, and nothing else", async (user) => {
		const wrong: string[] = [];
		for (const cell of cells) {
			// Bound in one namespace, nobody has rights on what has no namespace.
			const isClusterWide = !cell.path.includes("/namespaces/default/");
			const isBoundHere = ["viewer", "editor", "admin"].includes(user);
			const own = MATRIX[user] ?? [];
			const allowed = isBoundHere && isClusterWide ? SELF : own;
			const wanted = isAllowed(allowed, cell.verb, cell.resource);
			if ((await isLetIn(user, cell)) !== wanted) wrong.push(`${cell.verb} ${cell.resource}: want ${wanted}`);
		}
		expect(wrong).toEqual([]);
	});

	test("rights in one namespace are none in another", async () => {
		for (const user of ["viewer", "editor", "admin"]) {
			const { status } = await ask("/api/v1/namespaces/kube-system/pods", { headers: { "impersonate-user": user } });
			expect([user, status]).toEqual([user, 403]);
		}
	});

	test("each role that a start makes is in the table, or no program's", async () => {
		const { json } = await ask(`${RBAC}/clusterrolebindings`);
		const bindings = json["items"] as readonly { subjects?: readonly { kind: string; name: string }[] }[];
		const subjects = bindings.flatMap(({ subjects: list = [] }) => list).filter(({ kind }) => kind !== "Group");
		const names = subjects.map(({ kind, name }) =>
			kind === "User" ? name : `system:serviceaccount:kube-system:${name}`,
		);
		expect(names.filter((name) => MATRIX[name] === undefined)).toEqual([]);
	});

	test.each([
		["/healthz", 200, 200],
		["/readyz", 200, 200],
		["/version", 200, 200],
		["/api", 403, 200],
		["/apis/apps/v1", 403, 200],
		["/openapi/v3", 403, 200],
		["/", 403, 403],
		["/metrics", 403, 403],
		["/healthz/ping", 403, 403],
		["/none", 403, 403],
	])("%s is %i to anybody, %i to who is known", async (target, anybody, known) => {
		expect((await ask(target, { token: "" })).status).toBe(anybody);
		expect((await ask(target, { headers: { "impersonate-user": "nobody" } })).status).toBe(known);
	});
});

describe("credentials", () => {
	const whoAmI = async (asked: Asked): Promise<unknown> => {
		const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
		const target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
		const { json } = await ask(target, { method: "POST", body, ...asked });
		return (json.status as { userInfo?: unknown }).userInfo ?? json;
	};

	test("a token of the file is its user, with its groups", async () => {
		expect(await whoAmI({ token: "token-of-tom" })).toEqual({
			username: "tom",
			uid: "uid-of-tom",
			groups: ["testers", "readers", "system:authenticated"],
		});
	});

	test("an unknown token is refused, also where nobody needs one", async () => {
		for (const target of ["/healthz", "/api/v1/pods"]) {
			expect((await ask(target, { token: "token-of-nobody" })).status).toBe(401);
		}
	});

	test("the token of a ServiceAccount is good until the account goes, and not for another of its name", async () => {
		const accounts = "/api/v1/namespaces/default/serviceaccounts";
		const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "brief" } };
		await make(accounts, account);
		const { json } = await ask(`${accounts}/brief/token`, { method: "POST", body: {} });
		const { token } = json.status as { token: string };
		expect(await whoAmI({ token })).toMatchObject({
			username: "system:serviceaccount:default:brief",
			groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
		});
		await ask(`${accounts}/brief`, { method: "DELETE" });
		expect((await ask("/api", { token })).status).toBe(401);
		await make(accounts, account);
		expect((await ask("/api", { token })).status).toBe(401);
	});

	test("a host of somebody else's is 421, an address and our names are not", async () => {
		const statusOf = async (host: string): Promise<number> => (await ask("/version", { headers: { host } })).status;
		expect(await statusOf("rebound.example.com")).toBe(421);
		for (const host of ["127.0.0.1:1", "[::1]", "localhost:6443", "kubernetes.default.svc", "192.0.2.1"]) {
			expect([host, await statusOf(host)]).toEqual([host, 200]);
		}
	});

	test("nothing below TLS 1.2 is spoken", async () => {
		const { hostname: host, port } = new URL(plane.url);
		const tls = { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
		const shaken = new Promise((resolve, reject) => {
			const sent = request({ host, port, path: "/version", agent: false, rejectUnauthorized: false, ...tls }, resolve);
			sent.on("error", reject);
			sent.end();
		});
		await expect(shaken).rejects.toThrow(/protocol version|unsupported protocol/);
	});
});

describe.skipIf(kubectl?.missing !== undefined)("kubectl", () => {
	const run = (...args: string[]) => plane.kubectl(kubectl?.path ?? "", args);
	/** With no other credentials than those that the arguments give. */
	const runAs = (token: string, ...args: string[]) => {
		const config = JSON.parse(readFileSync(plane.kubeconfig, "utf8"));
		config.users[0].user = { token };
		const file = path.join(plane.folder, "as");
		writeFileSync(file, JSON.stringify(config));
		return run("--kubeconfig", file, ...args);
	};
	const Forbidden = /Error from server \(Forbidden\): nodes is forbidden: User "(.*)" cannot list resource "nodes"/;

	test("with a client certificate is the user that it names", async () => {
		const env = { ...process.env, XDG_CACHE_HOME: CACHE };
		const flags = ["kubeconfig", "--user", "cat", "--group", "cats", "--kubeconfig", plane.kubeconfig];
		const made = await finished(process.execPath, [PROGRAM, ...flags], { env });
		expect(made).toMatchObject({ status: 0, stderr: "" });
		const file = path.join(plane.folder, "cat");
		writeFileSync(file, made.stdout);
		const { stdout } = await run("--kubeconfig", file, "auth", "whoami");
		expect(stdout).toMatch(/Username +cat/);
		expect(stdout).toMatch(/Groups +\[cats system:authenticated\]/);
		expect((await run("--kubeconfig", file, "get", "nodes")).stderr).toMatch(Forbidden);
		await run("create", "clusterrolebinding", "cats", "--clusterrole=system:kube-scheduler", "--group=cats");
		expect(await run("--kubeconfig", file, "get", "nodes")).toMatchObject({ status: 0 });
	});

	test("with a token of the file is its user", async () => {
		expect((await runAs("token-of-eve", "get", "nodes")).stderr).toMatch(Forbidden);
		await run("create", "role", "tom", "--verb=get,list", "--resource=configmaps", "--resource-name=tom");
		await run("create", "rolebinding", "tom", "--role=tom", "--group=testers");
		await run("create", "configmap", "tom");
		expect(await runAs("token-of-tom", "get", "configmap", "tom")).toMatchObject({ status: 0 });
		expect(await runAs("token-of-tom", "get", "configmap", "kube-root-ca.crt")).toMatchObject({ status: 1 });
	});

	test("with a token of a ServiceAccount is the account", async () => {
		await run("create", "serviceaccount", "web");
		const token = (await run("create", "token", "web", "--duration=10m")).stdout.trim();
		expect((await runAs(token, "auth", "whoami")).stdout).toMatch(/Username +system:serviceaccount:default:web/);
		await run("create", "rolebinding", "web", "--clusterrole=view", "--serviceaccount=default:web");
		expect(await runAs(token, "get", "pods,services")).toMatchObject({ status: 0 });
		expect(await runAs(token, "get", "secrets")).toMatchObject({ status: 1 });
	});

	test("acts as others where that is allowed", async () => {
		expect((await run("auth", "can-i", "list", "pods", "--as=viewer")).stdout).toBe("yes\n");
		expect((await run("auth", "can-i", "delete", "pods", "--as=viewer")).stdout).toBe("no\n");
		const refused = await run("get", "pods", "--as=viewer", "--as-group=system:masters");
		expect(refused.status).toBe(0);
		expect((await runAs("token-of-eve", "get", "pods", "--as=viewer")).stderr).toContain("cannot impersonate");
	});

	test("gives nobody what the giver does not have", async () => {
		const { stderr } = await run("create", "role", "more", "--verb=get", "--resource=nodes", "--as=admin");
		expect(stderr).toContain("is attempting to grant RBAC permissions not currently held:");
		expect(stderr).toContain('{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}');
		const bound = await run(
			"create",
			"rolebinding",
			"more",
			"--clusterrole=cluster-admin",
			"--user=admin",
			"--as=admin",
		);
		expect(bound.stderr).toContain("is attempting to grant RBAC permissions not currently held:");
	});

	test("sees a controller do nothing without its role, and go on with it", { timeout: 60_000 }, async () => {
		const name = "system:controller:replicaset-controller";
		const { stdout: binding } = await run("get", "clusterrolebinding", name, "-o", "json");
		await run("delete", "clusterrolebinding", name);
		await run("create", "deployment", "stuck", "--image=i");
		const count = async (kind: string): Promise<number> =>
			(await run("get", kind, "-l", "app=stuck", "-o", "name")).stdout.split("\n").length - 1;
		await expect.poll(() => count("replicasets"), { timeout: 10_000 }).toBe(1);
		await expect
			.poll(() => plane.stderr, { timeout: 10_000 })
			.toContain('User \\"system:serviceaccount:kube-system:replicaset-controller\\" cannot ');
		expect(await count("pods")).toBe(0);
		const { metadata, ...rest } = JSON.parse(binding);
		const again = JSON.stringify({ ...rest, metadata: { name: metadata.name } });
		await plane.kubectl(kubectl?.path ?? "", ["create", "-f", "-"], again);
		await expect.poll(() => count("pods"), { timeout: 40_000 }).toBe(1);
	});

	test("fills roles from those with their label", async () => {
		const role = {
			apiVersion: "rbac.authorization.k8s.io/v1",
			kind: "ClusterRole",
			metadata: { name: "more-to-view", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
			rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"] }],
		};
		const asked = ["auth", "can-i", "get", "leases", "--as=viewer"];
		expect((await run(...asked)).stdout).toBe("no\n");
		await plane.kubectl(kubectl?.path ?? "", ["create", "-f", "-"], JSON.stringify(role));
		await expect.poll(async () => (await run(...asked)).stdout, { timeout: 10_000 }).toBe("yes\n");
	});
});
