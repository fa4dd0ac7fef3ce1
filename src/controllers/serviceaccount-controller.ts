/** Makes the ServiceAccount that a Pod of a namespace is, when it names no other. */
import { SERVICE_ACCOUNTS } from "../api/resource-names.ts";
import { PerNamespaceController } from "./per-namespace-object.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

export function serviceAccountController(ports: ControllerPorts): Controller {
	return new PerNamespaceController(ports, {
		name: "serviceaccount-controller",
		resource: SERVICE_ACCOUNTS,
		draft: { metadata: { name: "default" } },
		// What others add to it is theirs.
		mended: () => undefined,
	});
}
