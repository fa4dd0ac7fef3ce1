/** The probes of a container, as its spec has them, with the API's defaults. */
import type { Container } from "../../api/types/core.ts";
import { isObject } from "../../kernel/json.ts";

export type ProbeKind = "startup" | "readiness" | "liveness";

/** What a probe does; ports are numbers, names are looked up. */
export type ProbeAction =
	| {
			readonly kind: "http";
			/** "": the Pod's own address. */
			readonly host: string;
			readonly port: number;
			readonly path: string;
			readonly scheme: "HTTP" | "HTTPS";
			readonly headers: readonly (readonly [name: string, value: string])[];
	  }
	| { readonly kind: "tcp"; readonly host: string; readonly port: number }
	| { readonly kind: "grpc"; readonly port: number; readonly service: string }
	| { readonly kind: "exec"; readonly command: readonly string[] }
	/** The spec names a port that the container does not have. */
	| { readonly kind: "broken"; readonly message: string };

export interface ProbeSpec {
	readonly kind: ProbeKind;
	readonly action: ProbeAction;
	readonly initialDelayMs: number;
	readonly periodMs: number;
	readonly timeoutMs: number;
	readonly successThreshold: number;
	readonly failureThreshold: number;
	/** Between SIGTERM and SIGKILL when this probe ends the container; undefined: as the Pod has it. */
	readonly graceMs: number | undefined;
}

type Plain = Readonly<Record<string, unknown>>;

/** Those that the container has: the startup probe first, which holds back the others. */
export function probesOf(container: Container): readonly ProbeSpec[] {
	const { startupProbe, readinessProbe, livenessProbe } = container;
	const given = [
		["startup", startupProbe],
		["readiness", readinessProbe],
		["liveness", livenessProbe],
	] as const;
	return given.flatMap(([kind, probe]) => (probe === undefined ? [] : [specOf(kind, probe, container)]));
}

function specOf(kind: ProbeKind, probe: Plain, container: Container): ProbeSpec {
	const seconds = (name: string, byDefault: number): number => (numberOf(probe[name]) || byDefault) * 1_000;
	const graceSeconds = numberOf(probe["terminationGracePeriodSeconds"]);
	return {
		kind,
		action: actionOf(probe, container),
		initialDelayMs: seconds("initialDelaySeconds", 0),
		periodMs: seconds("periodSeconds", 10),
		timeoutMs: seconds("timeoutSeconds", 1),
		successThreshold: numberOf(probe["successThreshold"]) || 1,
		failureThreshold: numberOf(probe["failureThreshold"]) || 3,
		graceMs: graceSeconds === undefined ? undefined : graceSeconds * 1_000,
	};
}

/** The action of a probe, or of a hook. */
export function actionOf({ exec, httpGet, tcpSocket, grpc }: Plain, container: Container): ProbeAction {
	if (isObject(exec)) return { kind: "exec", command: listOf(exec["command"]).map(String) };
	if (isObject(httpGet)) {
		return withPort(httpGet["port"], container, (port) => ({
			kind: "http",
			host: textOf(httpGet["host"]),
			port,
			path: textOf(httpGet["path"]) || "/",
			scheme: httpGet["scheme"] === "HTTPS" ? "HTTPS" : "HTTP",
			headers: listOf(httpGet["httpHeaders"])
				.filter(isObject)
				.map((header) => [textOf(header["name"]), textOf(header["value"])] as const),
		}));
	}
	if (isObject(tcpSocket)) {
		return withPort(tcpSocket["port"], container, (port) => ({ kind: "tcp", host: textOf(tcpSocket["host"]), port }));
	}
	if (isObject(grpc)) {
		return withPort(grpc["port"], container, (port) => ({ kind: "grpc", port, service: textOf(grpc["service"]) }));
	}
	return { kind: "broken", message: "missing probe handler" };
}

function withPort(port: unknown, { ports = [] }: Container, action: (port: number) => ProbeAction): ProbeAction {
	const named = typeof port === "string" ? ports.find(({ name }) => name === port)?.containerPort : undefined;
	const number = named ?? Number(port);
	if (Number.isInteger(number) && number > 0 && number < 65_536) return action(number);
	return { kind: "broken", message: `couldn't find port: ${JSON.stringify(port)}` };
}

function numberOf(value: unknown): number | undefined {
	return typeof value === "number" ? value : undefined;
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
