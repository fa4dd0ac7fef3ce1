/** The variables by which programs find a proxy, for a command that runs inside a plane. */
import type { PlaneGateway } from "../wiring/start-plane.ts";

/** What is on this machine itself needs no gateway, the API above all. */
const NO_PROXY = "localhost,127.0.0.1,::1";

/** Who listens at every address is reached at loopback. */
const REACHED_AT: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Both spellings: curl reads `http_proxy` in small letters only, others only capitals. */
export function proxyVariables(gateway: PlaneGateway | undefined): Readonly<Record<string, string>> {
	if (gateway === undefined) return {};
	const { port, user, password } = gateway;
	const host = REACHED_AT[gateway.host] ?? gateway.host;
	const place = `${user}:${encodeURIComponent(password)}@${host.includes(":") ? `[${host}]` : host}:${port}`;
	const variables = {
		ALL_PROXY: `socks5h://${place}`,
		HTTP_PROXY: `http://${place}`,
		HTTPS_PROXY: `http://${place}`,
		NO_PROXY,
	};
	const small = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value] as const);
	return { ...variables, ...Object.fromEntries(small) };
}
