import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { Service, ServicePort, ServiceSpec } from "../types/core.ts";
import { SERVICE } from "./service.ts";

const PORT: ServicePort = { port: 80 };

function service(spec: ServiceSpec, more: Partial<Service> = {}): Service {
	return { apiVersion: "v1", kind: "Service", metadata: metadataOf("web"), spec, ...more };
}

function defaulted(spec: ServiceSpec, more: Partial<Service> = {}): Service {
	return SERVICE.withDefaults(service(spec, more)) as Service;
}

function errorsOf(spec: ServiceSpec, more: Partial<Service> = {}): readonly string[] {
	return errorTexts(SERVICE.validate(defaulted(spec, more)));
}

const CLUSTER_IP = { clusterIP: "10.96.0.9", clusterIPs: ["10.96.0.9"], ipFamilies: ["IPv4"] } as const;

describe("defaults of a Service", () => {
	test("fill in everything that a reader counts on", () => {
		expect(defaulted({ ports: [PORT], clusterIP: "", externalIPs: [] })).toEqual({
			...service({}),
			spec: {
				type: "ClusterIP",
				sessionAffinity: "None",
				internalTrafficPolicy: "Cluster",
				ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
			},
			status: { loadBalancer: {} },
		});
	});

	test("are stable: defaulting again changes nothing", () => {
		const once = defaulted({ type: "LoadBalancer", ports: [{ port: 1, targetPort: "" }], sessionAffinity: "ClientIP" });
		expect(SERVICE.withDefaults(once)).toEqual(once);
		expect(once.spec).toMatchObject({
			allocateLoadBalancerNodePorts: true,
			externalTrafficPolicy: "Cluster",
			sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
			ports: [{ targetPort: 1 }],
		});
	});

	test("an ExternalName has no traffic policy", () => {
		const spec = defaulted({ type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "Local" }).spec;
		expect(spec).toEqual({ type: "ExternalName", externalName: "a.b", sessionAffinity: "None" });
	});

	test("externalIPs make a ClusterIP Service reachable from outside", () => {
		expect(defaulted({ ports: [PORT], externalIPs: ["192.0.2.1"] }).spec.externalTrafficPolicy).toBe("Cluster");
	});

	test("a load balancer's address is a VIP unless it says otherwise", () => {
		const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "a.b" }] } };
		expect(defaulted({}, { status }).status?.loadBalancer?.ingress).toEqual([
			{ ip: "192.0.2.1", ipMode: "VIP" },
			{ hostname: "a.b" },
		]);
	});

	test("status is the server's: reset on create, kept on update", () => {
		const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
		const withStatus = service({}, { status });
		expect(SERVICE.prepareCreate(withStatus, { nowMs: 0 })).toMatchObject({ status: { loadBalancer: {} } });
		expect(SERVICE.prepareUpdate(service({}), withStatus)).toMatchObject({ status });
		expect(SERVICE.prepareStatusUpdate?.(withStatus, service({ type: "NodePort" }))).toMatchObject({
			spec: { type: "NodePort" },
			status,
		});
	});
});

describe("validation of a Service", () => {
	test.each<{ rule: string; spec: ServiceSpec; errors: readonly string[] }>([
		{ rule: "a good one", spec: { ports: [PORT], ...CLUSTER_IP }, errors: [] },
		{ rule: "ports are required", spec: {}, errors: ["spec.ports: Required value"] },
		{ rule: "headless needs no ports", spec: { clusterIP: "None", clusterIPs: ["None"] }, errors: [] },
		{
			rule: "headless has no outside",
			spec: { type: "NodePort", clusterIP: "None", clusterIPs: ["None"], ports: [PORT] },
			errors: [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`],
		},
		{
			rule: "ExternalName has a name and no addresses",
			spec: { type: "ExternalName", clusterIPs: ["1.2.3.4"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
			errors: [
				"spec.clusterIPs: Forbidden: may not be set for ExternalName services",
				"spec.ipFamilies: Forbidden: may not be set for ExternalName services",
				"spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
				"spec.externalName: Required value",
			],
		},
		{ rule: "a trailing dot is fine", spec: { type: "ExternalName", externalName: "a.example." }, errors: [] },
		{
			rule: "several ports have names, each its own",
			spec: { ports: [{ port: 1 }, { port: 2, name: "a" }, { port: 3, name: "a" }] },
			errors: ["spec.ports[0].name: Required value", 'spec.ports[2].name: Duplicate value: "a"'],
		},
		{
			rule: "port numbers and names",
			spec: { ports: [{ port: 70000, targetPort: "UPPER", protocol: "ICMP" as "TCP" }] },
			errors: [
				"spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
				'spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
				'spec.ports[0].targetPort: Invalid value: "UPPER": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
				'spec.ports[0].targetPort: Invalid value: "UPPER": must contain at least one letter (a-z)',
			],
		},
		{
			rule: "one (protocol, port) once",
			spec: {
				ports: [
					{ port: 80, name: "a" },
					{ port: 80, name: "b" },
					{ port: 80, name: "c", protocol: "UDP" },
				],
			},
			errors: [
				'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
			],
		},
		{
			rule: "one (protocol, nodePort) once",
			spec: {
				type: "NodePort",
				ports: [
					{ port: 80, name: "a", nodePort: 30080 },
					{ port: 81, name: "b", nodePort: 30080 },
					{ port: 82, name: "c", nodePort: 30080, protocol: "UDP" },
				],
			},
			errors: ["spec.ports[1].nodePort: Duplicate value: 30080"],
		},
		{
			rule: "no node ports inside",
			spec: { ports: [{ port: 80, nodePort: 30080 }] },
			errors: ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
		},
		{
			rule: "words of a list",
			spec: {
				ports: [PORT],
				sessionAffinity: "Cookie" as "None",
				type: "Ingress" as "NodePort",
				trafficDistribution: "Near",
				internalTrafficPolicy: "Far" as "Local",
			},
			errors: [
				'spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"',
				'spec.type: Unsupported value: "Ingress": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
				'spec.internalTrafficPolicy: Unsupported value: "Far": supported values: "Cluster", "Local"',
				'spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
			],
		},
		{
			rule: "affinity lasts a day at most",
			spec: {
				ports: [PORT],
				sessionAffinity: "ClientIP",
				sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
			},
			errors: [
				"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400",
			],
		},
		{
			rule: "external addresses are routable",
			spec: { ports: [PORT], externalIPs: ["010.0.0.1", "127.0.0.1"] },
			errors: [
				'spec.externalIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
				'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
			],
		},
		{
			rule: "fields of a load balancer only there",
			spec: {
				ports: [PORT],
				loadBalancerSourceRanges: ["10.0.0.0/8", " 10.0.0.1/8 "],
				allocateLoadBalancerNodePorts: true,
				loadBalancerClass: "a.b/c",
				externalTrafficPolicy: "Local",
				healthCheckNodePort: 31000,
			},
			errors: [
				"spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
				'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
				"spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
				"spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
				'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
				"spec.healthCheckNodePort: Invalid value: 31000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
			],
		},
		{
			rule: "clusterIP is the first of clusterIPs",
			spec: { ports: [PORT], clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.2"] },
			errors: ['spec.clusterIPs: Invalid value: ["10.96.0.2"]: first value must match `clusterIP`'],
		},
		{
			rule: "clusterIPs do not come alone",
			spec: { ports: [PORT], clusterIPs: ["10.96.0.2"] },
			errors: ['spec.clusterIPs: Invalid value: ["10.96.0.2"]: must be empty when `clusterIP` is not specified'],
		},
		{
			rule: "one address of each family",
			spec: { ports: [PORT], clusterIP: "10.96.0.2", clusterIPs: ["10.96.0.2", "10.96.0.3"], ipFamilies: ["IPv6"] },
			errors: [
				'spec.clusterIPs: Invalid value: ["10.96.0.2","10.96.0.3"]: may specify no more than one IP for each IP family',
				'spec.clusterIPs[0]: Invalid value: "10.96.0.2": expected an IPv6 value as indicated by `ipFamilies[0]`',
			],
		},
		{
			rule: "None stands alone",
			spec: { ports: [PORT], clusterIP: "None", clusterIPs: ["None", "10.96.0.3"] },
			errors: [`spec.clusterIPs: Invalid value: ["None","10.96.0.3"]: 'None' must be the first and only value`],
		},
		{
			rule: "families are two different ones",
			spec: { ports: [PORT], ipFamilies: ["IPv4", "IPv4", "IPv5" as "IPv4"], ipFamilyPolicy: "Any" as "SingleStack" },
			errors: [
				'spec.ipFamilies[1]: Duplicate value: "IPv4"',
				'spec.ipFamilies[2]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
				'spec.ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
			],
		},
	])("$rule", ({ spec, errors }) => {
		expect(errorsOf(spec)).toEqual(errors);
	});

	test("two spellings of the topology annotation agree", () => {
		const annotations = {
			"service.kubernetes.io/topology-mode": "Auto",
			"service.kubernetes.io/topology-aware-hints": "Disabled",
		};
		expect(errorsOf({ ports: [PORT] }, { metadata: metadataOf("web", { annotations }) })).toEqual([
			'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto":' +
				" must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified",
		]);
	});
});

describe("updates of a Service", () => {
	const one: ServiceSpec = { ports: [PORT], ...CLUSTER_IP, ipFamilyPolicy: "SingleStack" };
	const two: ServiceSpec = {
		ports: [PORT],
		clusterIP: "10.96.0.9",
		clusterIPs: ["10.96.0.9", "fd00::9"],
		ipFamilies: ["IPv4", "IPv6"],
		ipFamilyPolicy: "RequireDualStack",
	};
	const headless: ServiceSpec = { ports: [PORT], clusterIP: "None", clusterIPs: ["None"] };
	test.each<{ rule: string; from: ServiceSpec; to: ServiceSpec; errors: readonly string[] }>([
		{ rule: "nothing changes", from: one, to: one, errors: [] },
		{ rule: "a second address may come", from: one, to: two, errors: [] },
		{
			rule: "an address stays",
			from: one,
			to: { ...one, clusterIP: "10.96.0.8", clusterIPs: ["10.96.0.8"] },
			errors: ['spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set'],
		},
		{
			rule: "headless stays headless",
			from: headless,
			to: one,
			errors: ['spec.clusterIPs[0]: Invalid value: ["10.96.0.9"]: may not change once set'],
		},
		{
			rule: "the second address goes with the policy",
			from: two,
			to: { ...two, clusterIPs: ["10.96.0.9"], ipFamilies: ["IPv4"] },
			errors: [
				`spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to 'SingleStack' when releasing the secondary clusterIP`,
				`spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to 'SingleStack' when releasing the secondary ipFamily`,
			],
		},
		{
			rule: "to ExternalName everything may go",
			from: two,
			to: { type: "ExternalName", externalName: "a.b" },
			errors: [],
		},
		{
			rule: "a load balancer's class stays",
			from: { ...one, type: "LoadBalancer" },
			to: { ...one, type: "LoadBalancer", loadBalancerClass: "a/b" },
			errors: ['spec.loadBalancerClass: Invalid value: "a/b": may not change once set'],
		},
		{
			rule: "a health check's port stays",
			from: { ...one, type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31000 },
			to: { ...one, type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31001 },
			errors: ["spec.healthCheckNodePort: Forbidden: field is immutable"],
		},
	])("$rule", ({ from, to, errors }) => {
		expect(errorTexts(SERVICE.validateUpdate(defaulted(to), defaulted(from)))).toEqual(errors);
	});

	test("status of a load balancer", () => {
		const status = (ingress: object[]): Partial<Service> => ({ status: { loadBalancer: { ingress } } });
		const check = (next: Service): readonly string[] =>
			errorTexts(SERVICE.validateStatusUpdate?.(next, defaulted(one)) ?? []);
		expect(check(defaulted(one, status([{ ip: "192.0.2.1" }])))).toEqual([
			"status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
		]);
		expect(
			check(defaulted({ type: "LoadBalancer" }, status([{ ip: "x" }, { hostname: "10.0.0.1", ipMode: "VIP" }]))),
		).toEqual([
			'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
			"status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set",
			'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
		]);
	});
});

describe("warnings of a Service", () => {
	test.each<{ rule: string; spec: ServiceSpec; warnings: readonly string[] }>([
		{ rule: "none", spec: { ports: [PORT], ...CLUSTER_IP }, warnings: [] },
		{
			rule: "PreferClose",
			spec: { ports: [PORT], trafficDistribution: "PreferClose" },
			warnings: ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
		},
		{
			rule: "external addresses",
			spec: { ports: [PORT], externalIPs: ["2001:DB8::1"] },
			warnings: [
				'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
				"spec.externalIPs is deprecated and may no longer be implemented in some clusters",
			],
		},
		{
			rule: "headless",
			spec: {
				clusterIP: "None",
				clusterIPs: ["None"],
				externalIPs: ["192.0.2.1"],
				sessionAffinity: "ClientIP",
				loadBalancerIP: "192.0.2.1",
			},
			warnings: [
				"spec.loadBalancerIP is ignored for headless services",
				"spec.externalIPs is ignored for headless services",
				"spec.SessionAffinity is ignored for headless services",
			],
		},
		{
			rule: "names that are not used",
			spec: { ports: [PORT], externalName: "a.b" },
			warnings: ['spec.externalName is ignored when spec.type is not "ExternalName"'],
		},
	])("$rule", ({ spec, warnings }) => {
		expect(SERVICE.warnings(defaulted(spec), undefined)).toEqual(warnings);
	});

	test("name the annotation that replaced the one for hints", () => {
		const one = defaulted({ ports: [PORT], ...CLUSTER_IP });
		const annotations = { "service.kubernetes.io/topology-aware-hints": "disabled" };
		expect(SERVICE.warnings({ ...one, metadata: { ...one.metadata, annotations } }, undefined)).toEqual([
			"annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead",
		]);
	});
});
