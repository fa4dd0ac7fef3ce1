import { compareStrings } from "../../kernel/order.ts";
import { age } from "../age.ts";
import type { Table } from "../resource.ts";
import type { Service, ServicePort } from "../types/core.ts";
import { AGE_COLUMN, column, labelsCell, NAME_COLUMN, orNone, wideColumn } from "./cells.ts";

export const SERVICE_TABLE: Table<Service> = {
	columns: [
		NAME_COLUMN,
		column("Type", "How the Service is exposed: ClusterIP, NodePort, LoadBalancer or ExternalName."),
		column("Cluster-IP", "The first cluster IP of the Service."),
		column("External-IP", "The addresses at which the Service is reached from outside."),
		column("Port(s)", "The ports of the Service, with their node ports."),
		AGE_COLUMN,
		wideColumn("Selector", "The labels of the pods that are the Service's endpoints."),
	],
	cells: (service, nowMs) => [
		service.metadata.name,
		service.spec.type ?? "",
		orNone(service.spec.clusterIPs?.[0]),
		externalCell(service),
		orNone((service.spec.ports ?? []).map(portCell).join(",")),
		age(nowMs, service.metadata.creationTimestamp),
		labelsCell(service.spec.selector),
	],
};

function externalCell(service: Service): string {
	const { type, externalIPs = [], externalName = "" } = service.spec;
	switch (type) {
		case "ClusterIP":
		case "NodePort":
			return orNone(externalIPs.join(","));
		case "LoadBalancer":
			return [...ingressTexts(service), ...externalIPs].join(",") || "<pending>";
		case "ExternalName":
			return externalName;
		default:
			return "<unknown>";
	}
}

function ingressTexts(service: Service): readonly string[] {
	const ingress = service.status?.loadBalancer?.ingress ?? [];
	const texts = ingress.map(({ ip, hostname }) => ip || (hostname ?? "")).filter((text) => text !== "");
	return [...new Set(texts)].sort(compareStrings);
}

function portCell({ port, nodePort = 0, protocol }: ServicePort): string {
	return nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}
