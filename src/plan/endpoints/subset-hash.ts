/**
 * The order of ports and subsets in Endpoints is that of upstream's hashes: FNV-1a (128 bits) over the
 * text that Go's dumper makes of them. Field order differs from that of a slice's ports.
 */
import type { EndpointAddress, EndpointSubset, SubsetPort } from "../../api/types/core.ts";
import type { ObjectReference } from "../../api/types/meta.ts";
import { Fnv128a, fnv128aHex } from "../../kernel/fnv.ts";

export function subsetPortHash(port: SubsetPort): string {
	return fnv128aHex(`(v1.EndpointPort)${dumpedPort(port)}`);
}

export function subsetHash({ addresses, notReadyAddresses, ports }: EndpointSubset): string {
	const hash = new Fnv128a().update("(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)");
	feedList(hash, addresses, dumpedAddress);
	feedList(hash.update(" NotReadyAddresses:([]v1.EndpointAddress)"), notReadyAddresses, dumpedAddress);
	feedList(hash.update(" Ports:([]v1.EndpointPort)"), ports, dumpedPort);
	return hash.update("}").hex();
}

function feedList<T>(hash: Fnv128a, items: readonly T[] | undefined, dumped: (item: T) => string): void {
	if (items === undefined) hash.update("<nil>");
	else {
		hash.update("[");
		for (const [index, item] of items.entries()) hash.update(`${index === 0 ? "" : " "}${dumped(item)}`);
		hash.update("]");
	}
}

function dumpedPort({ name = "", port, protocol, appProtocol }: SubsetPort): string {
	const fields = [
		`Name:(string)${name}`,
		`Port:(int32)${port}`,
		`Protocol:(v1.Protocol)${protocol ?? ""}`,
		`AppProtocol:(*string)${appProtocol ?? "<nil>"}`,
	];
	return `{${fields.join(" ")}}`;
}

function dumpedAddress({ ip, hostname = "", nodeName, targetRef }: EndpointAddress): string {
	const fields = [
		`IP:(string)${ip}`,
		`Hostname:(string)${hostname}`,
		`NodeName:(*string)${nodeName ?? "<nil>"}`,
		`TargetRef:(*v1.ObjectReference)${targetRef === undefined ? "<nil>" : dumpedReference(targetRef)}`,
	];
	return `{${fields.join(" ")}}`;
}

function dumpedReference(reference: ObjectReference): string {
	const { kind = "", namespace = "", name = "", uid = "" } = reference;
	const { apiVersion = "", resourceVersion = "", fieldPath = "" } = reference;
	const fields = [
		`Kind:(string)${kind}`,
		`Namespace:(string)${namespace}`,
		`Name:(string)${name}`,
		`UID:(types.UID)${uid}`,
		`APIVersion:(string)${apiVersion}`,
		`ResourceVersion:(string)${resourceVersion}`,
		`FieldPath:(string)${fieldPath}`,
	];
	return `{${fields.join(" ")}}`;
}
