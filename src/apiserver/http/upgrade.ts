/** Requests to stop speaking HTTP: what they may become. */

import { badRequest, methodNotAllowed, noSuchPath } from "../../api/status.ts";
import type { Pod } from "../../api/types/core.ts";
import type { ApiServer } from "../api-server.ts";
import type { User } from "../ports.ts";
import { getObject } from "../verbs/read.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { routeOf } from "./route.ts";

export type UpgradeAnswer =
	| { readonly kind: "refused"; readonly response: HttpResponse }
	/** Streams to ports of this Pod. */
	| { readonly kind: "port-forward"; readonly pod: Pod };

/** Subresources that real pods have beside `portforward`. */
const NEEDS_PROCESS: ReadonlySet<string> = new Set(["exec", "attach"]);

/** @throws {ApiError} For a path, a user or a Pod that it is not for. */
export function upgradedPod(server: ApiServer, request: HttpRequest, user: User): Pod {
	const route = routeOf(request.path);
	if (route.kind !== "resource") throw noSuchPath();
	const type = server.typeOf(route);
	if (type.kind === "Pod" && NEEDS_PROCESS.has(route.subresource ?? "")) {
		throw badRequest(
			`${route.subresource} is not served: a simulated pod runs no process, and one of --runtime process is a process of ` +
				"the machine that the plane runs on, to be looked at there; kubectl logs and kubectl port-forward work",
		);
	}
	if (route.subresource !== "portforward") throw noSuchPath();
	if (!type.subresources.some(({ name }) => name === "portforward") || route.name === "") throw noSuchPath();
	if (request.method !== "GET" && request.method !== "POST") {
		throw methodNotAllowed(type, request.method.toLowerCase());
	}
	const { namespace, name } = route;
	// Both methods are `create` to authorization: a connection is made, whatever HTTP calls it.
	server.ports.authorizer.authorize(user, { verb: "create", type, namespace, name, subresource: "portforward" });
	const pod: Pod = getObject(server.ports, { type, namespace, name }) as Pod;
	const phase = pod.status?.phase ?? "Pending";
	if (phase !== "Running")
		throw badRequest(`unable to forward port because pod is not running. Current status=${phase}`);
	return pod;
}
