/** Hand-made slices that look meant for a Service, and do not name it. */
import type { EndpointSlice } from "../api/types/discovery.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";
import type { Subject } from "./subject.ts";

/** By their name, if they name no Service, or one that is not there. */
export function slicesMeantFor({ scene, namespace, service }: Subject): readonly EndpointSlice[] {
	const { name } = service.metadata;
	return (scene.namespaced().slices.get(namespace) ?? []).filter(({ metadata }) => {
		if (metadata.name !== name && !metadata.name.startsWith(`${name}-`)) return false;
		const named = metadata.labels?.[SERVICE_NAME_LABEL];
		if (named === undefined) return true;
		// One of a Service that is gone, and whose name begins alike, is that one's.
		return scene.service(`${namespace}/${named}`) === undefined && !metadata.name.startsWith(`${named}-`);
	});
}

/** With every port of the Service, and without the name of any. */
export function slicesWithPortsOf({ scene, namespace, service }: Subject): readonly EndpointSlice[] {
	const ports = service.spec.ports ?? [];
	if (ports.length === 0) return [];
	return (scene.namespaced().slices.get(namespace) ?? []).filter(
		(slice) =>
			slice.metadata.labels?.[SERVICE_NAME_LABEL] === undefined &&
			(slice.endpoints ?? []).length > 0 &&
			ports.every(({ name = "", protocol = "TCP" }) =>
				(slice.ports ?? []).some((each) => (each.name ?? "") === name && (each.protocol ?? "TCP") === protocol),
			),
	);
}
