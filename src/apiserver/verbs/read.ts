/** GET of one object. */
import { notFound } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Entry } from "../../store/entry.ts";
import type { ServerPorts, Target } from "../ports.ts";
import { storeKey } from "../ports.ts";

/** @throws {ApiError} `NotFound` */
export function getEntry({ store }: Pick<ServerPorts, "store">, target: Target): Entry {
	const entry = store.space(target.type.storagePrefix).get(storeKey(target));
	if (entry === undefined) throw notFound(target.type, target.name);
	return entry;
}

/** @throws {ApiError} `NotFound` */
export function getObject(ports: Pick<ServerPorts, "store">, target: Target): KubeObject {
	return getEntry(ports, target).object;
}
