import { describe, expect, test } from "vitest";
import { silentMetrics } from "../testing/silent.ts";
import { ContainerLogs } from "./container-logs.ts";

const limits = { bytesPerRunMax: 1_000, bytesMax: 2_000, lineLengthMax: 50 };
const texts = (logs: ContainerLogs, pod: string): string[] => logs.lines(pod, "c").map(({ text }) => text);

describe("ContainerLogs", () => {
	test("keeps the last lines of a container, up to its limit", () => {
		const logs = new ContainerLogs(silentMetrics, limits);
		for (let i = 0; i < 100; i++) logs.append("p", "c", { atMs: i, text: `line ${i}` });
		expect(texts(logs, "p").at(-1)).toBe("line 99");
		expect(texts(logs, "p").length).toBeLessThan(20);
		expect(texts(logs, "p")[0]).not.toBe("line 0");
	});

	test("forgets the containers that were silent for longest when all together are too much", () => {
		const logs = new ContainerLogs(silentMetrics, limits);
		for (const pod of ["a", "b", "c"])
			for (let i = 0; i < 10; i++) logs.append(pod, "c", { atMs: i, text: "x".repeat(20) });
		expect(texts(logs, "a")).toEqual([]);
		expect(texts(logs, "c")).toHaveLength(10);
	});

	test("cuts a line that is too long", () => {
		const logs = new ContainerLogs(silentMetrics, limits);
		logs.append("p", "c", { atMs: 0, text: "x".repeat(1_000) });
		expect(texts(logs, "p")[0]).toHaveLength(50);
	});

	test("keeps the run before the last, whatever the last one prints, and none before that", () => {
		const logs = new ContainerLogs(silentMetrics, limits);
		for (let run = 1; run <= 3; run++) {
			logs.startAgain("p", "c");
			for (let i = 0; i < 100; i++) logs.append("p", "c", { atMs: i, text: `run ${run}` });
		}
		expect(new Set(texts(logs, "p"))).toEqual(new Set(["run 3"]));
		expect(new Set(logs.lines("p", "c", "previous").map(({ text }) => text))).toEqual(new Set(["run 2"]));
		logs.append("q", "c", { atMs: 0, text: "x" });
		expect(texts(logs, "p")).not.toEqual([]);
	});

	test("tells followers of one container of its end, and not those of others", () => {
		const logs = new ContainerLogs(silentMetrics, limits);
		const heard: string[] = [];
		for (const name of ["c", "d"]) logs.follow("p", name, (line) => heard.push(`${name} ${line?.text}`));
		logs.end("p", "c");
		logs.startAgain("p", "c");
		for (const name of ["c", "d"]) logs.append("p", name, { atMs: 0, text: "more" });
		expect(heard).toEqual(["c undefined", "d more"]);
	});

	test("tells followers of new lines, and of the end", () => {
		const logs = new ContainerLogs(silentMetrics, limits);
		const heard: (string | undefined)[] = [];
		const stop = logs.follow("p", "c", (line) => heard.push(line?.text));
		logs.append("p", "c", { atMs: 0, text: "one" });
		logs.end("p");
		logs.append("p", "c", { atMs: 1, text: "two" });
		stop();
		expect(heard).toEqual(["one", undefined]);
		expect(texts(logs, "p")).toEqual(["one", "two"]);
		logs.forget("p");
		expect(texts(logs, "p")).toEqual([]);
	});
});
