/** The API server without its transport: what HTTP and in-process callers share. */

import { CUSTOM_RESOURCE_DEFINITION } from "../api/kinds/custom-resource-definition.ts";
import { validateDefinition, validateDefinitionUpdate } from "../api/kinds/custom-resource-definition-validation.ts";
import type { Resource, ResourceType } from "../api/resource.ts";
import { apiVersionOf } from "../api/resource.ts";
import { noSuchPath } from "../api/status.ts";
import type { RuleCompiler } from "../api/structural/rules.ts";
import type { CustomResourceDefinition } from "../api/types/apiextensions.ts";
import { Authorizer } from "./access/authorizer.ts";
import { CustomTypes } from "./custom-resources/custom-types.ts";
import { DefinitionFollower } from "./custom-resources/definition-follower.ts";
import type { ServerPorts } from "./ports.ts";
import { CommitBell } from "./watch/commit-bell.ts";

export class ApiServer {
	readonly ports: ServerPorts;
	readonly bell: CommitBell;
	/** What CustomResourceDefinitions add. */
	readonly customTypes: CustomTypes;
	readonly #types: ReadonlyMap<string, ResourceType>;

	constructor(given: Omit<ServerPorts, "authorizer">) {
		const ports = { ...given, authorizer: new Authorizer(given.store) };
		this.ports = ports;
		this.bell = new CommitBell(ports.store);
		const types = ports.types.map((type) => withRuleCompiler(type, ports.rules));
		this.#types = new Map(types.map((type) => [pathOf(type), type]));
		this.customTypes = new CustomTypes(ports.store, ports.rules);
		this.customTypes.onChange((space) => this.bell.ring(space));
		new DefinitionFollower(ports, this.customTypes);
	}

	/** @throws {ApiError} `NotFound` for a resource that is not served. */
	typeOf(resource: Pick<Resource, "group" | "version" | "plural">): ResourceType {
		const type = this.findType(resource);
		if (type === undefined) throw noSuchPath();
		return type;
	}

	/** The resource as it is served now. */
	findType(resource: Pick<Resource, "group" | "version" | "plural">): ResourceType | undefined {
		return this.#types.get(pathOf(resource)) ?? this.customTypes.find(resource);
	}
}

/** Rules in the schemas of definitions are compiled where they are written. */
function withRuleCompiler(type: ResourceType, rules: RuleCompiler | undefined): ResourceType {
	if (type !== CUSTOM_RESOURCE_DEFINITION || rules === undefined) return type;
	// The entry's objects are definitions: its own decoder has read them.
	return {
		...type,
		validate: (object) => validateDefinition(object as CustomResourceDefinition, rules),
		validateUpdate: (next, stored) =>
			validateDefinitionUpdate(next as CustomResourceDefinition, stored as CustomResourceDefinition, rules),
	};
}

function pathOf(resource: Pick<Resource, "group" | "version" | "plural">): string {
	return `${apiVersionOf(resource)}/${resource.plural}`;
}
