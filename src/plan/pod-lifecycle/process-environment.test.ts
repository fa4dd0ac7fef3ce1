import { describe, expect, test } from "vitest";
import type { Container } from "../../api/types/core.ts";
import { pod } from "../../testing/builders.ts";
import { environmentOf, expanded } from "./process-environment.ts";

const PLACE = { podIPs: ["10.244.0.2", "fd00::2"], hostIPs: ["192.168.0.1"], ports: { 8080: 40_001, 9090: 40_002 } };
const POD = pod("p", { metadata: { labels: { app: "web" } }, spec: { nodeName: "n1" } });

function variables(env: Container["env"] = [], ports: Container["ports"] = []): object {
	return Object.fromEntries(environmentOf(POD, { name: "c", env, ports }, PLACE).variables);
}

describe("environmentOf()", () => {
	test("tells the ports to listen on, which the spec's own variables may use or replace", () => {
		const ports = [{ containerPort: 9090 }, { containerPort: 8080 }];
		expect(variables([{ name: "LISTEN", value: "127.0.0.1:$(PORT_8080)" }, { name: "PORT" }], ports)).toEqual({
			PORT_8080: "40001",
			PORT_9090: "40002",
			PORT: "",
			LISTEN: "127.0.0.1:40001",
		});
	});

	test.each([
		["metadata.name", "p"],
		["metadata.namespace", "default"],
		["metadata.labels['app']", "web"],
		["metadata.annotations['__proto__']", ""],
		["spec.nodeName", "n1"],
		["status.podIP", "10.244.0.2"],
		["status.podIPs", "10.244.0.2,fd00::2"],
		["status.hostIP", "192.168.0.1"],
	])("gives field %s", (fieldPath, value) => {
		expect(variables([{ name: "X", valueFrom: { fieldRef: { fieldPath } } }])).toEqual({ X: value });
	});

	test("says which variables it cannot give", () => {
		const env = [{ name: "X", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }];
		const { problems, variables: given } = environmentOf(POD, { name: "c", env }, PLACE);
		expect([problems, given.size]).toEqual([["variable X: only values and fieldRef can be given to a process"], 0]);
	});
});

describe("expanded()", () => {
	test.each([
		["a $(A) b", "a 1 b"],
		["$(B)", "$(B)"],
		["$$(A)", "$(A)"],
		["$A $(", "$A $("],
	])("%s is %s", (text, result) => {
		expect(expanded(text, new Map([["A", "1"]]))).toBe(result);
	});
});
