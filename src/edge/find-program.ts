/** Programs of the machine, as a shell finds them. */
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

/** The first file of that name in the folders of `searchPath` that may be run; undefined when there is none. */
export function findProgram(name: string, searchPath: string): string | undefined {
	const files = searchPath.split(path.delimiter).map((folder) => path.join(folder, name));
	return files.find(isRunnable);
}

function isRunnable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
