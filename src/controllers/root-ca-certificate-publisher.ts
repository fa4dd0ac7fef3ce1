/** Publishes the certificate of the API's authority in every namespace, where Pods look for it. */
import { CONFIG_MAPS } from "../api/resource-names.ts";
import { deepEqual } from "../kernel/json.ts";
import { PerNamespaceController } from "./per-namespace-object.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const DESCRIPTION =
	"Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
	"internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of " +
	"Kubernetes clusters.";

/** @param certificate PEM. */
export function rootCACertificatePublisher(ports: ControllerPorts, certificate: string): Controller {
	const data = { "ca.crt": certificate };
	const annotations = { "kubernetes.io/description": DESCRIPTION };
	return new PerNamespaceController(ports, {
		name: "root-ca-certificate-publisher-controller",
		resource: CONFIG_MAPS,
		draft: { metadata: { name: "kube-root-ca.crt", annotations }, data },
		mended: (stored) => (deepEqual(stored.data, data) ? undefined : { ...stored, data }),
	});
}
