/**
 * The file of `--token-auth-file`: a line a user, `token,user,uid,"group1,group2"`, with the groups left out or quoted.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
 */
import { readFile } from "node:fs/promises";
import type { User } from "../apiserver/ports.ts";
import { systemReason } from "./system-reason.ts";

/** By token. Rejects with a sentence that names the file, the line and what is wanted. */
export async function readTokenFile(file: string): Promise<Readonly<Record<string, User>>> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (error) {
		throw new Error(`cannot read --token-auth-file ${file}: ${systemReason(error)}`, { cause: error });
	}
	return tokenUsers(text, file);
}

/** @throws {Error} For a line that is none. The last line of a token counts. */
export function tokenUsers(text: string, file: string): Readonly<Record<string, User>> {
	const users: [string, User][] = [];
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		if (line.trim() === "") continue;
		const [token = "", name = "", uid = "", groups = ""] = columnsOf(line);
		if (token === "" || name === "" || columnsOf(line).length < 3) {
			const want = 'want token,user,uid or token,user,uid,"group1,group2"';
			// The line itself may have a token in it, so it is not shown.
			throw new Error(`--token-auth-file ${file}, line ${index + 1}: ${want}`);
		}
		const names = groups.split(",").map((group) => group.trim());
		users.push([token, { name, uid, groups: names.filter((group) => group !== "") }]);
	}
	return Object.fromEntries(users);
}

/** Columns of one line of CSV; a quote inside quotes is doubled. */
function columnsOf(line: string): readonly string[] {
	const columns = [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))/g)];
	return columns.map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain.trim());
}
