/** Steps that ask, remember and count. */
import type { KubeObject } from "../../api/types/meta.ts";
import { TestWatch } from "../../testing/test-watch.ts";
import type { HttpStep, SaveStep } from "../format/steps.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import { type Saved, type ScenarioRun, StepError } from "../run.ts";
import { PATCH_TYPES, send } from "./requests.ts";

export async function http(run: ScenarioRun, step: HttpStep): Promise<void> {
	const path = withTokens(run, step.path);
	const contentType = step.method === "PATCH" ? PATCH_TYPES[step.type ?? "merge"] : undefined;
	const reply = await send(run, step.method, path, {
		...(step.body === undefined ? {} : { body: step.body }),
		...(contentType === undefined ? {} : { contentType }),
	});
	run.reply = reply;
	if (step.stream !== undefined) {
		if (!(reply.watch instanceof TestWatch)) throw new StepError(`${path} opened no watch: ${reply.code}`);
		run.streams.set(step.stream, reply.watch);
	}
	if (step.save_continue === undefined) return;
	const { metadata } = reply.body as { readonly metadata?: { readonly continue?: string } };
	run.tokens.set(step.save_continue, metadata?.continue ?? "");
}

/** @throws {StepError} When nothing is named. */
export function save(run: ScenarioRun, step: SaveStep): void {
	if (!("kind" in step)) {
		const { node, family = "IPv4" } = step.ruleset;
		const version = run.plane.proxies.get(node)?.rules.rules.version(family) ?? 0;
		run.savedRulesets.set(step.as, { node, family, version });
		return;
	}
	const found = run.found(step);
	if (found.length === 0) throw new StepError(`save ${step.as}: ${JSON.stringify(step)} names no object`);
	run.saved.set(
		step.as,
		found.map((object) => savedOf(typeOfKind(step.kind), object)),
	);
}

function savedOf(type: Saved["type"], { metadata }: KubeObject): Saved {
	const { namespace = "", name, uid, resourceVersion } = metadata;
	return { type, namespace, name, uid, resourceVersion };
}

/** `${NAME}` in a path is the continue token that was saved under that name. */
function withTokens(run: ScenarioRun, path: string): string {
	return path.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => {
		const token = run.tokens.get(name);
		if (token === undefined) throw new StepError(`\${${name}}: no continue token was saved under that name`);
		return encodeURIComponent(token);
	});
}
