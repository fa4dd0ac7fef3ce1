import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { refusalTeller } from "./refused-rights.ts";

const refusal = (verb: string, where: string): ApiError =>
	new ApiError(
		"Forbidden",
		`pods "p" is forbidden: User "system:serviceaccount:kube-system:x" cannot ${verb} resource "pods" in API group "" ${where}`,
	);

test("each right that is missing is told once, wherever it was wanted, with the manifest that has it", () => {
	const told: string[] = [];
	const teller = refusalTeller("kubelet", (line) => told.push(line));
	teller(refusal("get", 'in the namespace "a"'));
	teller(refusal("get", 'in the namespace "b"'));
	teller(refusal("watch", "at the cluster scope"));
	expect(told).toEqual([
		'not allowed: User "system:serviceaccount:kube-system:x" cannot get resource "pods" in API group "" in the namespace "a"; what kubelet needs is in deploy/kubelet.yaml',
		'not allowed: User "system:serviceaccount:kube-system:x" cannot watch resource "pods" in API group "" at the cluster scope; what kubelet needs is in deploy/kubelet.yaml',
	]);
});

test("what is forbidden for another reason is no missing right", () => {
	const told: string[] = [];
	refusalTeller("dns", (line) => told.push(line))(
		new ApiError(
			"Forbidden",
			'pods "p" is forbidden: unable to create new content in namespace a because it is being terminated',
		),
	);
	expect(told).toEqual([]);
});
