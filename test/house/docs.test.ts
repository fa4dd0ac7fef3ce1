/** What the documents say is what the code does. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { resourceOfKind } from "../../src/api/resource-table.ts";
import { decodeObject } from "../../src/api/schema/decode.ts";
import { ApiError, type StatusReason } from "../../src/api/status.ts";
import type { Pod } from "../../src/api/types/core.ts";
import { addApiserverCommand } from "../../src/cli/apiserver.ts";
import { CONTROLLER_ROWS } from "../../src/cli/controller-flags.ts";
import { addControllersCommand } from "../../src/cli/controllers.ts";
import { addKubeletCommand } from "../../src/cli/kubelet.ts";
import { addScenarioCommand } from "../../src/cli/scenario.ts";
import { addUpOptions } from "../../src/cli/up-options.ts";
import { parseManifests } from "../../src/edge/codec/yaml.ts";
import { behaviourOf } from "../../src/plan/pod-lifecycle/behaviour.ts";
import { DEFAULT_PLANE_OPTIONS } from "../../src/wiring/plane-options.ts";
import { codeBlocks, quotedRows } from "./documents.ts";

/** Commands and manifests run; `text` is what a program prints, or a picture. */
const LANGUAGES = [
	"sh",
	"sh in-clone",
	"sh in-plane",
	"yaml",
	"yaml pairs",
	"yaml explained",
	"yaml scenario",
	"ts run",
	"text",
];

describe("code blocks", () => {
	test("are of a language that runs, or say that they are text", () => {
		const others = codeBlocks().filter(({ info }) => !LANGUAGES.includes(info));
		expect(others.map(({ file, line, info }) => `${file}:${line} ${info}`)).toEqual([]);
	});

	const manifests = codeBlocks().filter(({ info }) => info === "yaml");
	test.each(manifests)("$file:$line is a manifest that the API takes without a warning", async ({ code }) => {
		const parsed = await parseManifests(code);
		if (parsed.kind === "malformed") throw new Error(parsed.message);
		for (const { value } of parsed.documents) {
			const [apiVersion, kind] = [String(value["apiVersion"]), String(value["kind"])];
			const type = resourceOfKind(apiVersion, kind);
			expect(decodeObject(type?.schema ?? "", value, { apiVersion, kind })).toMatchObject({ kind: "ok", unknown: [] });
			if (kind === "Pod") expect(behaviourOf(value as unknown as Pod).problems).toEqual([]);
		}
	});
});

describe("docs/errors.md", () => {
	test("lists each reason of a Status with its code, and no other", () => {
		const rows = [...readFileSync("docs/errors.md", "utf8").matchAll(/^\| (\w+) \| (\d{3}) \|/gm)];
		for (const [, reason, code] of rows) {
			expect(new ApiError(reason as StatusReason, "").code).toBe(Number(code));
		}
		const source = readFileSync("src/api/status.ts", "utf8");
		const table = /const CODE_BY_REASON = \{([\s\S]*?)\}/.exec(source)?.[1] ?? "";
		const known = [...table.matchAll(/(\w+): \d{3}/g)].map(([, reason]) => reason);
		expect(rows.map(([, reason]) => reason).sort()).toEqual([...known].sort());
	});
});

describe("docs/command-line.md", () => {
	const up = new Command("up");
	addUpOptions(up);
	const shown = up.options.filter(({ hidden }) => !hidden);

	const root = new Command();
	for (const add of [addScenarioCommand, addApiserverCommand, addControllersCommand, addKubeletCommand]) {
		add(root, () => undefined);
	}
	const shared = new Set(CONTROLLER_ROWS.map(([flags]) => flags));
	const optionsOf = (name: string) =>
		name === "up"
			? shown
			: (root.commands.find((command) => command.name() === name)?.options ?? []).filter(
					({ flags }) => !shared.has(flags),
				);

	test.each(["up", "scenario", "apiserver", "controllers", "kubelet"])(
		"lists each flag of %s, and no other",
		(name) => {
			const rows = quotedRows("docs/command-line.md", name);
			const flags = rows.map(([cell = ""]) => /--[a-z-]+/.exec(cell)?.[0] ?? cell);
			expect([...flags].sort()).toEqual(
				optionsOf(name)
					.map(({ long }) => long ?? "")
					.sort(),
			);
		},
	);

	test("gives the defaults that the program has", () => {
		const rows = new Map(quotedRows("docs/command-line.md", "up").map(([flag = "", value = ""]) => [flag, value]));
		expect(rows.get("`--nodes N`")).toBe(String(DEFAULT_PLANE_OPTIONS.nodes));
		expect(rows.get("`--cluster-cidr V4[,V6]`")).toBe(DEFAULT_PLANE_OPTIONS.clusterCIDRs.join(","));
		expect(rows.get("`--service-cluster-ip-range V4[,V6]`")).toBe(DEFAULT_PLANE_OPTIONS.serviceCIDRs.join(","));
		const { from, to } = DEFAULT_PLANE_OPTIONS.nodePortRange;
		expect(rows.get("`--service-node-port-range FROM-TO`")).toBe(`${from}-${to}`);
	});
});

describe("docs/pods.md", () => {
	test("lists each annotation that the behaviour of a Pod reads", () => {
		const listed = quotedRows("docs/pods.md")
			.map(([cell = ""]) => /sliceplane\.dev\/([a-z-]+)/.exec(cell)?.[1])
			.filter((name) => name !== undefined);
		const source = readFileSync("src/plan/pod-lifecycle/behaviour.ts", "utf8");
		const read = [...source.matchAll(/^ \* +sliceplane\.dev\/([a-z-]+):/gm)].map(([, name]) => name);
		expect([...listed].sort()).toEqual([...read].sort());
	});
});
