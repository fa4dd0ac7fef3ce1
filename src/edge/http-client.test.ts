import { describe } from "vitest";
import { HttpsTestServer } from "../testing/https-test-server.ts";
import { transportSuite } from "../testing/transport-suite.ts";

describe("HttpClient", () => {
	transportSuite(async () => {
		const server = await HttpsTestServer.start();
		const client = server.client();
		return {
			client,
			server: server.plane,
			cut: () => server.restart(),
			async close() {
				client.close();
				await server.close();
			},
		};
	});
});
