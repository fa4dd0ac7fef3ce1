/** What containers refer to and how they are probed: rules that a simulated Pod has like a real one. */
import { repeatedIndexes } from "../../kernel/order.ts";
import { duplicate, errorsOf, type FieldError, forbidden, invalid, notFound, required } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import { dns1123LabelProblems } from "../names.ts";
import type { Container, PodSpec } from "../types/core.ts";
import type { IntOrString } from "../types/meta.ts";
import { validatePortNumberOrName } from "./service-port-validation.ts";

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"] as const;
const COUNTS = [
	"initialDelaySeconds",
	"timeoutSeconds",
	"periodSeconds",
	"successThreshold",
	"failureThreshold",
] as const;

interface Probe extends Partial<Readonly<Record<(typeof COUNTS)[number], number>>> {
	readonly exec?: { readonly command?: readonly string[] };
	readonly httpGet?: { readonly port?: IntOrString };
	readonly tcpSocket?: { readonly port?: IntOrString };
	readonly grpc?: { readonly port?: number };
}

export function validateVolumes(field: string, volumes: PodSpec["volumes"] = []): readonly FieldError[] {
	const repeated = repeatedIndexes(volumes, ({ name }) => name);
	return errorsOf(volumes, ({ name }, index) => {
		const at = `${field}[${index}].name`;
		if (typeof name !== "string" || name === "") return [required(at, "")];
		return [...invalids(at, name, dns1123LabelProblems(name)), ...(repeated.has(index) ? [duplicate(at, name)] : [])];
	});
}

/** @param volumes The names that can be mounted. */
export function validateMounts(
	field: string,
	{ volumeMounts: mounts = [] }: Container,
	volumes: ReadonlySet<unknown>,
): readonly FieldError[] {
	const repeated = repeatedIndexes(mounts, ({ mountPath = "" }) => mountPath);
	return errorsOf(mounts, ({ name = "", mountPath = "" }, index) => {
		const at = `${field}.volumeMounts[${index}]`;
		return [
			...(name === "" ? [required(`${at}.name`, "")] : []),
			...(volumes.has(name) ? [] : [notFound(`${at}.name`, name)]),
			...(mountPath === "" ? [required(`${at}.mountPath`, "")] : []),
			...(repeated.has(index) ? [invalid(`${at}.mountPath`, mountPath, "must be unique")] : []),
		];
	});
}

export function validateVariables(field: string, { env = [] }: Container): readonly FieldError[] {
	return errorsOf(env, ({ name = "" }, index) => (name === "" ? [required(`${field}.env[${index}].name`, "")] : []));
}

export function validateProbes(field: string, container: Container): readonly FieldError[] {
	return errorsOf(PROBES, (key) => {
		const probe: Probe | undefined = container[key];
		if (probe === undefined) return [];
		const at = `${field}.${key}`;
		const { successThreshold = 1 } = probe;
		return [
			...validateHandler(at, probe),
			...COUNTS.filter((count) => (probe[count] ?? 0) < 0).map((count) =>
				invalid(`${at}.${count}`, probe[count], "must be greater than or equal to 0"),
			),
			...(key !== "readinessProbe" && successThreshold !== 1
				? [invalid(`${at}.successThreshold`, successThreshold, "must be 1")]
				: []),
		];
	});
}

function validateHandler(field: string, probe: Probe): readonly FieldError[] {
	const [first, ...others] = HANDLERS.filter((handler) => probe[handler] !== undefined);
	if (first === undefined) return [required(field, "must specify a handler type")];
	const port = first === "exec" ? undefined : (probe[first]?.port ?? 0);
	return [
		...(first === "exec" && (probe.exec?.command ?? []).length === 0 ? [required(`${field}.exec.command`, "")] : []),
		...(port === undefined ? [] : validatePortNumberOrName(`${field}.${first}.port`, port)),
		...others.map((other) => forbidden(`${field}.${other}`, "may not specify more than 1 handler type")),
	];
}
