/** Defaults of a pod's spec, the same in a Pod and in the template of a workload. */
import { isObject } from "../../kernel/json.ts";
import type { Container, PodSpec, PodTemplateSpec } from "../types/core.ts";

type Plain = Readonly<Record<string, unknown>>;

/** Files of mounted secrets and the like: rw-r--r--. */
const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;
const GRACE_SECONDS = 30;

export function withTemplateDefaults(template: PodTemplateSpec | undefined): PodTemplateSpec {
	const { metadata = {}, spec } = template ?? {};
	return { ...template, metadata, spec: withPodSpecDefaults(spec ?? { containers: [] }) };
}

export function withPodSpecDefaults(spec: PodSpec): PodSpec {
	const account = spec.serviceAccountName || spec.serviceAccount || "";
	return {
		...spec,
		...(spec.volumes === undefined ? {} : { volumes: spec.volumes.map(withVolumeDefaults) }),
		...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withContainerDefaults) }),
		containers: (spec.containers ?? []).map(withContainerDefaults),
		restartPolicy: spec.restartPolicy || "Always",
		terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? GRACE_SECONDS,
		dnsPolicy: spec.dnsPolicy || "ClusterFirst",
		securityContext: spec.securityContext ?? {},
		schedulerName: spec.schedulerName || "default-scheduler",
		...(account === "" ? {} : { serviceAccountName: account, serviceAccount: account }),
	};
}

function withContainerDefaults(container: Container): Container {
	return {
		...container,
		resources: container.resources ?? {},
		terminationMessagePath: container.terminationMessagePath || "/dev/termination-log",
		terminationMessagePolicy: container.terminationMessagePolicy || "File",
		imagePullPolicy: container.imagePullPolicy || pullPolicyOf(container.image ?? ""),
		...(container.ports === undefined
			? {}
			: { ports: container.ports.map((port) => ({ ...port, protocol: port.protocol || ("TCP" as const) })) }),
		...(container.env === undefined
			? {}
			: { env: container.env.map((entry) => withPart(entry, "valueFrom", withFieldRef)) }),
		...probesOf(container),
		...(container.lifecycle === undefined ? {} : { lifecycle: withLifecycleDefaults(container.lifecycle) }),
	};
}

/** An image that may change under its tag is pulled each time. */
function pullPolicyOf(image: string): string {
	if (image.includes("@")) return "IfNotPresent";
	const name = image.slice(image.lastIndexOf("/") + 1);
	const colon = name.indexOf(":");
	return colon < 0 || name.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent";
}

function probesOf(container: Container): Partial<Container> {
	const probes = (["livenessProbe", "readinessProbe", "startupProbe"] as const).flatMap((key) => {
		const probe = container[key];
		return probe === undefined ? [] : [[key, withProbeDefaults(probe)] as const];
	});
	return Object.fromEntries(probes);
}

function withProbeDefaults(probe: Plain): Plain {
	const withHandlers = withPart(withPart(probe, "httpGet", withHttpGetDefaults), "grpc", (grpc) => ({
		...grpc,
		service: grpc["service"] ?? "",
	}));
	return {
		...withHandlers,
		timeoutSeconds: probe["timeoutSeconds"] || 1,
		periodSeconds: probe["periodSeconds"] || 10,
		successThreshold: probe["successThreshold"] || 1,
		failureThreshold: probe["failureThreshold"] || 3,
	};
}

function withHttpGetDefaults(action: Plain): Plain {
	return { ...action, path: action["path"] || "/", scheme: action["scheme"] || "HTTP" };
}

function withLifecycleDefaults(lifecycle: Plain): Plain {
	const withHandler = (handler: Plain): Plain => withPart(handler, "httpGet", withHttpGetDefaults);
	return withPart(withPart(lifecycle, "postStart", withHandler), "preStop", withHandler);
}

/** A field of the pod is named by a path of an API version, which is v1 unless it says otherwise. */
function withFieldRef(source: Plain): Plain {
	return withPart(source, "fieldRef", (reference) => ({ ...reference, apiVersion: reference["apiVersion"] || "v1" }));
}

function withVolumeDefaults(volume: Plain): Plain {
	const hasSource = Object.keys(volume).some((key) => key !== "name");
	if (!hasSource) return { ...volume, emptyDir: {} };
	const mode = (source: Plain): Plain => ({ ...source, defaultMode: source["defaultMode"] ?? FILE_MODE });
	const modes = ["secret", "configMap"].reduce((result, key) => withPart(result, key, mode), volume);
	const downward = withPart(modes, "downwardAPI", (source) => mode(withItems(source, "items", withFieldRef)));
	const projected = withPart(downward, "projected", (source) =>
		mode(withItems(source, "sources", withProjectionDefaults)),
	);
	return withPart(projected, "hostPath", (path) => ({ ...path, type: path["type"] ?? "" }));
}

function withProjectionDefaults(source: Plain): Plain {
	const token = withPart(source, "serviceAccountToken", (projection) => ({
		...projection,
		expirationSeconds: projection["expirationSeconds"] ?? TOKEN_SECONDS,
	}));
	return withPart(token, "downwardAPI", (projection) => withItems(projection, "items", withFieldRef));
}

/** The object with its part under `key` changed, if it has one. */
function withPart<T extends Plain>(object: T, key: string, change: (part: Plain) => Plain): T {
	const part = object[key];
	return isObject(part) ? { ...object, [key]: change(part) } : object;
}

function withItems(object: Plain, key: string, change: (item: Plain) => Plain): Plain {
	const items = object[key];
	return Array.isArray(items)
		? { ...object, [key]: items.map((item) => (isObject(item) ? change(item) : item)) }
		: object;
}
