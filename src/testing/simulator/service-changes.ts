/** What users do with Services. */
import { SERVICES } from "../../api/resource-names.ts";
import type { Service, ServiceSpec } from "../../api/types/core.ts";
import { SERVICE_NAMES, type User } from "./user.ts";

type SpecMaker = (user: User) => ServiceSpec;

const NAMED_PORTS = [{ name: "http", port: 80, targetPort: "http" }] as const;
const TWO_PORTS = [
	{ name: "http", port: 80, targetPort: "http" },
	{ name: "admin", port: 81, targetPort: 9090 },
] as const;
const PORTS = [NAMED_PORTS, [{ port: 80, targetPort: 8080 }], TWO_PORTS] as const;

/** Few, so that two Services ask for the same. */
const CLUSTER_IPS = ["10.96.0.20", "10.96.0.21", "10.96.0.22"];
const NODE_PORTS = [30_001, 30_002, 30_003];

const SPECS: Readonly<Record<string, SpecMaker>> = {
	cluster: (user) => ({ selector: selector(user), ports: user.dice.of(PORTS) }),
	fixed: (user) => ({ selector: selector(user), ports: user.dice.of(PORTS), clusterIP: user.dice.of(CLUSTER_IPS) }),
	headless: (user) => ({ selector: selector(user), clusterIP: "None", ports: user.dice.of(PORTS) }),
	portless: (user) => ({ selector: selector(user), clusterIP: "None" }),
	dual: (user) => ({ selector: selector(user), ports: NAMED_PORTS, ipFamilyPolicy: "RequireDualStack" }),
	sixFirst: (user) => ({
		selector: selector(user),
		ports: NAMED_PORTS,
		ipFamilyPolicy: user.dice.of(["PreferDualStack", "SingleStack"] as const),
		ipFamilies: ["IPv6"],
	}),
	nodePort: (user) => ({
		type: "NodePort",
		selector: selector(user),
		ports: [{ port: 80, targetPort: "http", ...(user.dice.chance(0.5) ? { nodePort: user.dice.of(NODE_PORTS) } : {}) }],
	}),
	loadBalancer: (user) => ({
		type: "LoadBalancer",
		selector: selector(user),
		ports: NAMED_PORTS,
		externalTrafficPolicy: user.dice.of(["Cluster", "Local"] as const),
	}),
	external: (user) => ({
		type: "ExternalName",
		externalName: "db.example.org",
		...(user.dice.chance(0.5) ? { selector: selector(user), ports: NAMED_PORTS } : {}),
	}),
	manual: (user) => ({ ports: user.dice.of(PORTS) }),
};

function selector({ dice }: User): Readonly<Record<string, string>> {
	const app = dice.of(["web", "web", "api", "db"]);
	return dice.chance(0.3) ? { app, tier: dice.of(["front", "back"]) } : { app };
}

export async function createService(user: User): Promise<void> {
	const spec = user.dice.of(Object.values(SPECS))(user);
	const [namespace, name] = [user.namespace(), user.dice.of(SERVICE_NAMES)];
	const labels = user.dice.chance(0.5) ? { app: user.dice.of(["web", "api"]) } : {};
	const draft = { metadata: { name, labels }, spec };
	await user.tries(`user create services ${namespace}/${name} ${JSON.stringify(spec)}`, () =>
		user.client.create(SERVICES, namespace, draft),
	);
}

export async function deleteService(user: User): Promise<void> {
	const service = user.any(SERVICES);
	if (service === undefined) return createService(user);
	const propagationPolicy = user.dice.of(["Background", "Background", "Foreground"]);
	await user.delete(SERVICES, service, { propagationPolicy });
	// The name is given to another one at once.
	if (user.dice.chance(0.4)) await createService(user);
}

type Change = (user: User, service: Service) => object;

const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";

const CHANGES: Readonly<Record<string, Change>> = {
	selector: (user, { spec }) => ({ spec: { selector: { ...nulls(spec.selector), ...selector(user) } } }),
	noSelector: () => ({ spec: { selector: null } }),
	ports: ({ dice }) => ({ spec: { ports: dice.of(PORTS) } }),
	labels: ({ dice }) => ({ metadata: { labels: { app: dice.of(["web", "api", null]), tier: dice.of(["x", null]) } } }),
	unready: ({ dice }) => ({ spec: { publishNotReadyAddresses: dice.chance(0.5) } }),
	distribution: ({ dice }) => ({ spec: { trafficDistribution: dice.of(["PreferClose", "PreferSameNode", null]) } }),
	topology: ({ dice }) => ({ metadata: { annotations: { [TOPOLOGY_MODE]: dice.of(["Auto", "Disabled", null]) } } }),
	nodePorts: () => ({ spec: { type: "NodePort" } }),
	clusterIP: () => ({ spec: { type: "ClusterIP", externalName: null } }),
	externalName: () => ({
		spec: { type: "ExternalName", externalName: "x.example.org", clusterIP: "", clusterIPs: null },
	}),
	dual: ({ dice }) => ({ spec: { ipFamilyPolicy: dice.of(["PreferDualStack", "RequireDualStack"]) } }),
	single: (_, { spec }) => ({
		spec: {
			ipFamilyPolicy: "SingleStack",
			ipFamilies: spec.ipFamilies?.slice(0, 1) ?? null,
			clusterIPs: spec.clusterIPs?.slice(0, 1) ?? null,
		},
	}),
	affinity: ({ dice }) => ({ spec: { sessionAffinity: dice.of(["None", "ClientIP"]) } }),
};

function nulls(labels: object = {}): object {
	return Object.fromEntries(Object.keys(labels).map((key) => [key, null]));
}

export async function changeService(user: User): Promise<void> {
	const service = user.any(SERVICES);
	if (service === undefined) return createService(user);
	await user.patch(SERVICES, service, user.dice.of(Object.values(CHANGES))(user, service));
}
