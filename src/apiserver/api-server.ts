/** The API server without its transport: what HTTP and in-process callers share. */
import type { Resource, ResourceType } from "../api/resource.ts";
import { apiVersionOf } from "../api/resource.ts";
import { noSuchPath } from "../api/status.ts";
import type { ServerPorts } from "./ports.ts";
import { CommitBell } from "./watch/commit-bell.ts";

export class ApiServer {
	readonly ports: ServerPorts;
	readonly bell: CommitBell;
	readonly #types: ReadonlyMap<string, ResourceType>;

	constructor(ports: ServerPorts) {
		this.ports = ports;
		this.bell = new CommitBell(ports.store);
		this.#types = new Map(ports.types.map((type) => [pathOf(type), type]));
	}

	/** @throws {ApiError} `NotFound` for a resource that is not served. */
	typeOf(resource: Pick<Resource, "group" | "version" | "plural">): ResourceType {
		const type = this.#types.get(pathOf(resource));
		if (type === undefined) throw noSuchPath();
		return type;
	}
}

function pathOf(resource: Pick<Resource, "group" | "version" | "plural">): string {
	return `${apiVersionOf(resource)}/${resource.plural}`;
}
