/** GET of one object. */
import { notFound } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Entry } from "../../store/entry.ts";
import type { ServerPorts, Target } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";

/** @throws {ApiError} `NotFound` */
export function getEntry(ports: Pick<ServerPorts, "store">, target: Target): Entry {
	const entry = shownEntry(ports, target);
	if (entry === undefined) throw notFound(target.type, target.name);
	return entry;
}

/** @throws {ApiError} `NotFound` */
export function getObject(ports: Pick<ServerPorts, "store">, target: Target): KubeObject {
	return getEntry(ports, target).object;
}
