import { expect, test } from "vitest";
import { proxyVariables } from "./proxy-variables.ts";

test.each([
	["127.0.0.1", "127.0.0.1"],
	["0.0.0.0", "127.0.0.1"],
	["::", "[::1]"],
	["fd00::1", "[fd00::1]"],
])("a gateway that listens at %s is reached at %s", (host, reachedAt) => {
	const variables = proxyVariables({ host, port: 1080, user: "u", password: "p:w" });
	expect(variables["ALL_PROXY"]).toBe(`socks5h://u:p%3Aw@${reachedAt}:1080`);
	expect(variables["https_proxy"]).toBe(`http://u:p%3Aw@${reachedAt}:1080`);
});
