import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { TransportError } from "../machinery/api-client.ts";
import { errorText } from "./error-text.ts";

const of = (code: string): Error => Object.assign(new Error("why"), { code });
const unreachable = (code: string): Error => new TransportError("unreachable", "Cannot reach https://a", of(code));

test.each([
	[
		"a dead port",
		unreachable("ECONNREFUSED"),
		/^Cannot reach https:\/\/a; start the cluster, or choose .*--kubeconfig/,
	],
	["a wrong authority", unreachable("SELF_SIGNED_CERT_IN_CHAIN"), /; take a kubeconfig with the authority/],
	["an authority of the same name", unreachable("CERT_SIGNATURE_FAILURE"), /; take a kubeconfig with the authority/],
	["another host's certificate", unreachable("ERR_TLS_CERT_ALTNAME_INVALID"), /; take a kubeconfig with the authority/],
	["a server without TLS", unreachable("EPROTO"), /must begin with https:/],
	[
		"a connection that broke",
		new TransportError("broken", "It broke", of("ECONNRESET")),
		/^It broke; start the cluster/,
	],
	["a token that nobody knows", new ApiError("Unauthorized", "Unauthorized"), /; take a kubeconfig with a token/],
])("%s is told with what to do", (_what, error, text) => {
	expect(errorText(error)).toMatch(text);
});

test.each([
	["a refusal", new ApiError("Forbidden", "pods is forbidden")],
	["another error", new Error("pods is forbidden")],
	["what is no error", "pods is forbidden"],
])("%s is told as it is", (_what, error) => {
	expect(errorText(error)).toBe("pods is forbidden");
});
