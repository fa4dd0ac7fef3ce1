/**
 * Names of network namespaces, `sp-PID-START-NAME`: they say which process made them, so that what one left that was
 * killed is known and removed by the next.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { tryIp } from "./run-ip.ts";

const NAMESPACES = "/run/netns";
/** What the names of folders have before that of a namespace. */
const FOLDERS = "sliceplane-";
const OWN_NAME = /^sp-(\d+)-([0-9a-z]+)-[0-9A-Za-z-]+$/;

/** `sp-PID-START`: of this process, and of no other one that has had its number. */
export function ownPrefix(): string {
	return `sp-${process.pid}-${startOf(process.pid) ?? "0"}`;
}

/** Names this process to others on this machine: `sp-PID-START@` and the namespace in which the number counts. */
export function processMark(): string {
	return `${ownPrefix()}@${numberSpace()}`;
}

/** Whether the process ran on this machine and runs no more. Of others nobody here can tell. */
export function isGone(mark: string): boolean {
	const [prefix = "", space] = mark.split("@");
	return space === numberSpace() && isAbandoned(`${prefix}-client`);
}

/** Different boots of a machine have different ones, as have containers. */
function numberSpace(): string {
	try {
		const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
		return `${boot}/${readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "")}`;
	} catch {
		return "";
	}
}

/** Whether the name is one that this program gives. */
export function isOwnName(name: string): boolean {
	return OWN_NAME.test(name);
}

export function namespaceExists(name: string): boolean {
	return existsSync(path.join(NAMESPACES, name));
}

/** A temporary folder for this user alone, which is known for this process' as its namespaces are. */
export function makePrivateFolder(): Promise<string> {
	return mkdtemp(path.join(tmpdir(), `${FOLDERS}${ownPrefix()}-`));
}

/** Removes folders of makers that do not run any more. */
export async function removeAbandonedFolders(): Promise<void> {
	const folders = namesIn(tmpdir()).filter(
		(name) => name.startsWith(FOLDERS) && isAbandoned(name.slice(FOLDERS.length)),
	);
	// Those of other users are theirs to remove.
	for (const name of folders)
		await rm(path.join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
}

/** Those whose makers do not run any more. */
export function abandonedNamespaces(): readonly string[] {
	return namesIn(NAMESPACES).filter(isAbandoned);
}

/** Removes the namespaces, as far as they are there, with all that is in them. */
export function removeNamespaces(names: readonly string[]): Promise<void> {
	return tryIp(names.map((name) => `netns del ${name}`));
}

function isAbandoned(name: string): boolean {
	const [, pid, start] = OWN_NAME.exec(name) ?? [];
	return pid !== undefined && startOf(Number(pid)) !== start;
}

/** When the process started, in ticks since the machine did; undefined when there is none. */
function startOf(pid: number): string | undefined {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		// The name, in brackets, may hold anything; the 20th word after it is the time.
		const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		// One that is dead and not waited for holds nothing any more.
		return words[0] === "Z" ? undefined : Number(words[19]).toString(36);
	} catch {
		return undefined;
	}
}

function namesIn(folder: string): readonly string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}
