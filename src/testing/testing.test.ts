import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

/** Packages that the file needs when it runs, itself or through what it imports. */
function packagesOf(file: string, seen: Set<string>): readonly string[] {
	if (seen.has(file)) return [];
	seen.add(file);
	const source = readFileSync(file, "utf8").replaceAll(/^(import|export) type [^;]*;/gm, "");
	const imports = [
		...source.matchAll(/^(?:import|export|\})[^"\n]*\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm),
	];
	return imports.flatMap(([, from, bare, dynamic]) => {
		const name = from ?? bare ?? dynamic ?? "";
		return name.startsWith(".") ? packagesOf(path.join(path.dirname(file), name), seen) : [name];
	});
}

test("the door for users' tests needs no test framework, and nothing else that the package does not bring", () => {
	const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
	const seen = new Set<string>();
	const packages = packagesOf("src/testing/testing.ts", seen).filter((name) => !name.startsWith("node:"));
	expect(seen.size).toBeGreaterThan(100);
	const owners = packages.map((name) =>
		name
			.split("/")
			.slice(0, name.startsWith("@") ? 2 : 1)
			.join("/"),
	);
	expect(owners.filter((name) => !Object.hasOwn(dependencies, name))).toEqual([]);
});
