/** What the Pods of a Service contribute to its Endpoints. */
import { canonicalIP, familyOf } from "../../api/ip.ts";
import type { EndpointAddress, EndpointSubset, Pod, Service, SubsetPort } from "../../api/types/core.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { hasLiveAddress, hostnameUnder, isReady, isTerminating, resolvedPort } from "../pod-facts.ts";
import { isHeadless } from "../service-selector.ts";
import { canonicalSubsets, portKeyOf, type SubsetPiece } from "./repack.ts";

export function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
	return canonicalSubsets(pods.flatMap((pod) => piecesOf(service, pod)));
}

/** Terminating Pods are dropped at once, unlike in slices, which can say that they terminate. */
export function piecesOf(service: Service, pod: Pod): readonly SubsetPiece[] {
	const publishesAll = service.spec.publishNotReadyAddresses === true;
	if (!hasLiveAddress(pod) || (isTerminating(pod) && !publishesAll)) return [];
	const address = addressOf(service, pod);
	if (address === undefined) return [];
	const ready = publishesAll || isReady(pod);
	return portsOn(pod, service).map(({ port, portKey }) => ({ address, isReady: ready, port, portKey }));
}

interface KeyedPort {
	readonly port: SubsetPort | undefined;
	readonly portKey: string;
}

/** A Pod that has none of the ports is not listed at all, unless the Service is headless without ports. */
function portsOn(pod: Pod, service: Service): readonly KeyedPort[] {
	const servicePorts = service.spec.ports ?? [];
	if (servicePorts.length === 0) return service.spec.clusterIP === "None" ? [{ port: undefined, portKey: "" }] : [];
	return servicePorts.flatMap((servicePort, index) => {
		const number = resolvedPort(pod, servicePort);
		if (number === undefined) return [];
		const { name = "", protocol = "TCP", appProtocol } = servicePort;
		const port: SubsetPort = {
			...(name === "" ? {} : { name }),
			port: number,
			protocol,
			...(appProtocol === undefined ? {} : { appProtocol }),
		};
		return [{ port, portKey: portKeyOf(port, appProtocol === undefined ? "" : `${index}`) }];
	});
}

function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
	const family = primaryFamily(service, pod);
	const found = pod.status?.podIPs?.find(({ ip }) => (familyOf(ip) ?? "IPv4") === family);
	if (found === undefined) return undefined;
	const hostname = hostnameUnder(service, pod);
	const { namespace, name, uid } = pod.metadata;
	return {
		ip: canonicalIP(found.ip) ?? "<nil>",
		...(hostname === undefined ? {} : { hostname }),
		nodeName: pod.spec.nodeName ?? "",
		targetRef: { kind: "Pod", ...(namespace === undefined ? {} : { namespace }), name, uid },
	};
}

/** Endpoints have one family: the Service's first. Without a word from the Service it is the Pod's own. */
function primaryFamily(service: Service, pod: Pod): IPFamily {
	const declared = service.spec.ipFamilies?.[0];
	if (declared !== undefined) return declared;
	const ip = isHeadless(service) ? pod.status?.podIP : service.spec.clusterIP;
	return familyOf(ip ?? "") ?? "IPv4";
}
