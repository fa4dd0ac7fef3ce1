/** Node ports as clients on this machine see them. */
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";

/** A port of the range that nobody listens on now. Node ports are real ports of this machine. */
export async function freeNodePort(): Promise<number> {
	for (let port = 30_000 + (process.pid % 2_000); ; port++) {
		const isFree = await new Promise<boolean>((resolve) => {
			const server = createServer().once("error", () => resolve(false));
			server.listen(port, "127.0.0.1", () => {
				const { port: found } = server.address() as AddressInfo;
				server.close(() => resolve(found === port));
			});
		});
		if (isFree) return port;
	}
}

/** One request on a connection of its own: the body, or the system's word for why not. */
export function get(port: number, path: string): Promise<string> {
	return new Promise((resolve) => {
		const sent = request({ host: "127.0.0.1", port, path, agent: false, timeout: 5_000 }, (response) => {
			let text = "";
			response.on("data", (chunk) => {
				text += String(chunk);
			});
			response.on("end", () => resolve(text));
		});
		sent.on("timeout", () => sent.destroy(Object.assign(new Error("timeout"), { code: "TIMEOUT" })));
		sent.on("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
		sent.end();
	});
}
