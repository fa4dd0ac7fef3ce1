/** What went wrong, in one line for people: of a cluster that cannot be asked it says also what to do. */
import { hasReason } from "../api/status.ts";
import { systemCode } from "../edge/system-reason.ts";
import { TransportError } from "../machinery/api-client.ts";

export function errorText(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	const advice = adviceFor(error);
	return advice === undefined ? message : `${message}; ${advice}`;
}

const ADVICE = {
	credentials: "take a kubeconfig with a token or client certificate that is valid there",
	authority: "take a kubeconfig with the authority that signed that server's certificate",
	protocol: "the kubeconfig's server must begin with https:// where it speaks TLS, else with http://",
	cluster: "start the cluster, or choose another with --kubeconfig or --context",
} as const;

function adviceFor(error: unknown): string | undefined {
	if (hasReason(error, "Unauthorized")) return ADVICE.credentials;
	if (!(error instanceof TransportError)) return undefined;
	const code = systemCode(error.cause);
	// OpenSSL's names for what is wrong with a chain of certificates, such as UNABLE_TO_VERIFY_LEAF_SIGNATURE.
	if (/CERT|SIGNATURE/.test(code)) return ADVICE.authority;
	if (code === "EPROTO" || code.startsWith("ERR_SSL") || error.kind === "malformed") return ADVICE.protocol;
	return ADVICE.cluster;
}
