/**
 * The file of `--token-auth-file`: a line a user, `token,user,uid,"group1,group2"`, with the groups left out or quoted.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
 */
import { readFile } from "node:fs/promises";
import type { User } from "../apiserver/ports.ts";
import { systemReason } from "./system-reason.ts";

/**
 * By token. Rejects with a sentence that names the file, the line and what is wanted.
 * @param warn Called for what is odd, and no fault.
 */
export async function readTokenFile(
	file: string,
	warn: (text: string) => void,
): Promise<Readonly<Record<string, User>>> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (error) {
		throw new Error(`cannot read --token-auth-file ${file}: ${systemReason(error)}`, { cause: error });
	}
	return tokenUsers(text, file, warn);
}

/** @throws {Error} For a line that is none. The last line of a token counts. */
export function tokenUsers(
	text: string,
	file: string,
	warn: (text: string) => void = () => undefined,
): Readonly<Record<string, User>> {
	const users = new Map<string, User>();
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		if (line.trim() === "") continue;
		const where = `--token-auth-file ${file}, line ${index + 1}`;
		const columns = columnsOf(line);
		const [token = "", name = "", uid = "", groups = ""] = columns ?? [];
		// The line itself may have a token in it, so it is not shown.
		if (columns === undefined) throw new Error(`${where}: a quote is open, or inside of a word: ${WANTED}`);
		if (token === "" || name === "" || columns.length < 3) throw new Error(`${where}: ${WANTED}`);
		if (users.has(token)) warn(`${where}: the token is that of a line before, which does not count`);
		const names = groups.split(",").map((group) => group.trim());
		users.set(token, { name, uid, groups: names.filter((group) => group !== "") });
	}
	return Object.fromEntries(users);
}

const WANTED = 'want token,user,uid or token,user,uid,"group1,group2"';

/** Columns of one line of CSV; a quote inside quotes is doubled. Undefined when quotes do not match. */
function columnsOf(line: string): readonly string[] | undefined {
	const columns = [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))/g)];
	if (columns.some(([, , plain]) => plain?.includes('"'))) return undefined;
	return columns.map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain.trim());
}
