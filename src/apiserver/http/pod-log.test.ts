import { expect, test } from "vitest";
import { ContainerLogs } from "../../machinery/container-logs.ts";
import { pod } from "../../testing/builders.ts";
import { silentMetrics } from "../../testing/silent.ts";
import { isStream } from "./message.ts";
import { podLogAnswer } from "./pod-log.ts";

test("a reader that was slow gets what came meanwhile, and what comes after", () => {
	const logs = new ContainerLogs(silentMetrics);
	const web = pod("web");
	const append = (text: string): void => logs.append(web.metadata.uid, "c", { atMs: 0, text });
	append("first");
	const { body } = podLogAnswer(logs, web, new URLSearchParams("follow=true"), 0);
	const written: string[] = [];
	let isRoom = false;
	let isEnded = false;
	const sink = {
		write: (frame: Uint8Array): boolean => {
			written.push(new TextDecoder().decode(frame));
			return isRoom;
		},
		end: (): void => {
			isEnded = true;
		},
	};
	const stream = isStream(body) ? body.start(sink) : undefined;
	append("meanwhile");
	expect(written).toEqual(["first\n"]);
	isRoom = true;
	stream?.drained();
	append("after");
	expect(written).toEqual(["first\n", "meanwhile\n", "after\n"]);
	isRoom = false;
	append("full");
	isRoom = true;
	stream?.drained();
	append("with nothing in between");
	expect(written.slice(3)).toEqual(["full\n", "with nothing in between\n"]);
	logs.end(web.metadata.uid);
	expect(isEnded).toBe(true);
});

test("a slow reader gets the end of the run that it follows, and nothing of the next one", () => {
	const logs = new ContainerLogs(silentMetrics);
	const web = pod("web");
	const append = (text: string): void => logs.append(web.metadata.uid, "c", { atMs: 0, text });
	append("first");
	const { body } = podLogAnswer(logs, web, new URLSearchParams("follow=true"), 0);
	const written: string[] = [];
	let isRoom = false;
	const sink = {
		write: (frame: Uint8Array): boolean => {
			written.push(new TextDecoder().decode(frame));
			return isRoom;
		},
		end: (): number => written.push("end"),
	};
	const stream = isStream(body) ? body.start(sink) : undefined;
	append("last");
	logs.end(web.metadata.uid, "c");
	logs.startAgain(web.metadata.uid, "c");
	append("of the next run");
	isRoom = true;
	stream?.drained();
	expect(written).toEqual(["first\n", "last\n", "end"]);
});
