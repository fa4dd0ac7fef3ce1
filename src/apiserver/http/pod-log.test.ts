import { expect, test } from "vitest";
import { ContainerLogs } from "../../machinery/container-logs.ts";
import { pod } from "../../testing/builders.ts";
import { silentMetrics } from "../../testing/silent.ts";
import { isStream } from "./message.ts";
import { podLogAnswer } from "./pod-log.ts";

/** A reader of a container's log that takes a line whenever there is room. */
function follower() {
	const logs = new ContainerLogs(silentMetrics);
	const web = pod("web");
	const append = (text: string): void => logs.append(web.metadata.uid, "c", { atMs: 0, text });
	append("first");
	const { body } = podLogAnswer(logs, web, new URLSearchParams("follow=true"), 0);
	const written: string[] = [];
	const room = { isThere: false };
	const sink = {
		write: (frame: Uint8Array): boolean => {
			written.push(new TextDecoder().decode(frame));
			return room.isThere;
		},
		end: (): number => written.push("end"),
	};
	const stream = isStream(body) ? body.start(sink) : undefined;
	return { logs, uid: web.metadata.uid, append, written, room, drained: () => stream?.drained() };
}

test("a reader that was slow gets what came meanwhile, and what comes after", () => {
	const { logs, uid, append, written, room, drained } = follower();
	append("meanwhile");
	expect(written).toEqual(["first\n"]);
	room.isThere = true;
	drained();
	append("after");
	expect(written).toEqual(["first\n", "meanwhile\n", "after\n"]);
	room.isThere = false;
	append("full");
	room.isThere = true;
	drained();
	append("with nothing in between");
	expect(written.slice(3)).toEqual(["full\n", "with nothing in between\n"]);
	logs.end(uid);
	expect(written.slice(5)).toEqual(["end"]);
});

test("a slow reader gets the end of the run that it follows, and nothing of the next one", () => {
	const { logs, uid, append, written, room, drained } = follower();
	append("last");
	logs.end(uid, "c");
	logs.startAgain(uid, "c");
	append("of the next run");
	room.isThere = true;
	drained();
	expect(written).toEqual(["first\n", "last\n", "end"]);
});
