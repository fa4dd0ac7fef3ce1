/** Which Pod's port a `proxy` subresource leads to (api-protocol, "Streaming subresources"). */
import { canonicalIP } from "../../api/ip.ts";
import { ApiError, badRequest } from "../../api/status.ts";
import type { Endpoints, Pod, Service } from "../../api/types/core.ts";
import { type Random, randomBelow } from "../../kernel/random.ts";

export interface ProxiedName {
	readonly scheme: string;
	readonly name: string;
	/** A number or a name; "" for none. */
	readonly port: string;
}

export interface PodPort {
	readonly ip: string;
	readonly port: number;
}

/** `web`, `web:80`, `http:web:metrics`. @throws {ApiError} `BadRequest` */
export function proxiedName(id: string, word: "service" | "pod"): ProxiedName {
	const [, scheme = "", name = "", port = ""] = /^(?:(https?|):)?([^:]+)(?::([^:]*))?$/.exec(id) ?? [];
	// With one colon the first word is a name, whatever it is.
	const [first = "", second = "", third] = id.split(":");
	if (third === undefined && second !== "") return { scheme: "http", name: first, port: second };
	if (name === "") throw badRequest(`invalid ${word} request ${JSON.stringify(id)}`);
	return { scheme: scheme === "" ? "http" : scheme, name, port };
}

/** The Pod's own address. @throws {ApiError} `BadRequest` for a Pod without one. */
export function podTarget(pod: Pod, port: string): PodPort {
	const ip = canonicalIP(pod.status?.podIP ?? "");
	if (ip === undefined) throw badRequest("address not allowed");
	const declared = pod.spec.containers.flatMap(({ ports = [] }) => ports)[0]?.containerPort;
	return { ip, port: port === "" ? (declared ?? 80) : portNumber(port) };
}

/** One of the Service's endpoints, each as likely as the others. @throws {ApiError} `ServiceUnavailable` */
export function serviceTarget(
	service: Service,
	endpoints: Endpoints | undefined,
	asked: { readonly id: string; readonly port: string },
	random: Random,
): PodPort {
	const { name } = service.metadata;
	const portName = declaredPort(service, asked.port);
	const subsets = endpoints?.subsets ?? [];
	if (subsets.length === 0) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
	const found = subsets.flatMap(({ addresses = [], ports = [] }) => {
		const port = ports.find((each) => (each.name ?? "") === portName)?.port;
		return port === undefined ? [] : addresses.map(({ ip }) => ({ ip, port }));
	});
	const target = found[found.length === 0 ? 0 : randomBelow(random, found.length)];
	if (target === undefined) throw unavailable(`no endpoints available for service ${JSON.stringify(asked.id)}`);
	return target;
}

export function unavailable(message: string): ApiError {
	return new ApiError("ServiceUnavailable", message);
}

/** Endpoints know ports by name only. */
function declaredPort({ metadata, spec }: Service, port: string): string {
	if (!/^\d+$/.test(port)) return port;
	const found = (spec.ports ?? []).find((each) => each.port === Number(port));
	if (found !== undefined) return found.name ?? "";
	throw unavailable(`no service port ${port} found for service ${JSON.stringify(metadata.name)}`);
}

function portNumber(text: string): number {
	const port = Number(text);
	if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
	throw badRequest(`invalid port ${JSON.stringify(text)}: want a number from 1 to 65535`);
}
