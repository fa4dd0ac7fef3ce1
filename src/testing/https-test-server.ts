/** A {@link TestServer} behind a real socket with TLS, on a free port of loopback. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Certificates, certificatesFor } from "../edge/certificates.ts";
import { HttpClient, type HttpClientOptions } from "../edge/http-client.ts";
import { DEFAULT_HTTPS_LIMITS, type Handler, HttpsServer, type HttpsServerLimits } from "../edge/https-server.ts";
import { SeededRandom } from "./seeded.ts";
import { TestServer, type TestServerOptions } from "./test-server.ts";

let kept: Promise<Certificates> | undefined;

/** Made once per test file: making them takes longer than most tests. */
export function testCertificates(): Promise<Certificates> {
	kept ??= madeCertificates();
	return kept;
}

async function madeCertificates(): Promise<Certificates> {
	const folder = await mkdtemp(path.join(tmpdir(), "sliceplane-test-"));
	try {
		// The server's own clock decides whether they are valid, so this cannot be virtual time.
		return await certificatesFor({ folder, addresses: [], nowMs: performance.timeOrigin });
	} finally {
		await rm(folder, { recursive: true });
	}
}

export interface HttpsTestServerOptions extends TestServerOptions {
	readonly limits?: Partial<HttpsServerLimits>;
	/** Default: the API of the test server. */
	readonly handler?: (api: Handler) => Handler;
}

export class HttpsTestServer {
	readonly plane: TestServer;
	readonly certificates: Certificates;
	readonly port: number;
	readonly #open: () => HttpsServer;
	#server: HttpsServer;

	private constructor(
		plane: TestServer,
		certificates: Certificates,
		running: { readonly open: () => HttpsServer; readonly server: HttpsServer; readonly port: number },
	) {
		this.plane = plane;
		this.certificates = certificates;
		this.port = running.port;
		this.#open = running.open;
		this.#server = running.server;
	}

	static async start({ limits, handler, ...options }: HttpsTestServerOptions = {}): Promise<HttpsTestServer> {
		const plane = await TestServer.start(options);
		const certificates = await testCertificates();
		const api: Handler = (request) => plane.api.handle(request);
		const all = { ...DEFAULT_HTTPS_LIMITS, ...limits };
		const open = (): HttpsServer => new HttpsServer(certificates, handler?.(api) ?? api, all);
		const server = open();
		const port = await server.listen("127.0.0.1", 0);
		return new HttpsTestServer(plane, certificates, { open, server, port });
	}

	get url(): string {
		return `https://127.0.0.1:${this.port}`;
	}

	/** A client of the user `admin`. Close it when done. */
	client(options: Partial<HttpClientOptions> = {}): HttpClient {
		return new HttpClient({
			server: this.url,
			ca: this.certificates.ca,
			token: () => Promise.resolve("admin"),
			random: new SeededRandom(1),
			...options,
		});
	}

	/** Cuts every connection, and listens again on the same port: the store lives on. */
	async restart(): Promise<void> {
		await this.#server.close(0);
		this.#server = this.#open();
		await this.#server.listen("127.0.0.1", this.port);
	}

	close(graceMs = 0): Promise<void> {
		return this.#server.close(graceMs);
	}
}
