/** `pods/log`: what a container has printed, and goes on to print (api-protocol, "Streaming subresources"). */
import { invalid } from "../../api/field-error.ts";
import { badRequest, invalidObject } from "../../api/status.ts";
import type { ContainerStatus, Pod } from "../../api/types/core.ts";
import { utf8 } from "../../kernel/bytes.ts";
import type { ContainerLogs, LogLine, LogRun } from "../../machinery/container-logs.ts";
import type { FrameSink } from "../watch/watch-hub.ts";
import type { HttpResponse, StreamBody } from "./message.ts";
import { booleanOf } from "./query.ts";

const HEADERS = { "content-type": "text/plain" };

/** @throws {ApiError} `BadRequest` for a container that is not there, or has not started. */
export function podLogAnswer(logs: ContainerLogs, pod: Pod, query: URLSearchParams, nowMs: number): HttpResponse {
	const podName = pod.metadata.name;
	const container = containerOf(pod, query);
	const run = runOf(pod, container, query);
	const withTime = booleanOf(query, "timestamps");
	const shown = (line: LogLine): Uint8Array => utf8(textOf(line, withTime));
	const lines = selected(logs.lines(pod.metadata.uid, container, run), query, podName, nowMs);
	if (!booleanOf(query, "follow") || run === "previous" || isOver(pod, container)) {
		const text = lines.map((line) => textOf(line, withTime)).join("");
		return { status: 200, headers: HEADERS, body: utf8(limited(text, wholeNumber(query, podName, "limitBytes"))) };
	}
	return { status: 200, headers: HEADERS, body: followed(logs, pod.metadata.uid, container, lines.map(shown), shown) };
}

function followed(
	logs: ContainerLogs,
	podUID: string,
	container: string,
	first: readonly Uint8Array[],
	shown: (line: LogLine) => Uint8Array,
): StreamBody {
	return {
		start(sink: FrameSink) {
			let isBlocked = !first.map((line) => sink.write(line)).every(Boolean);
			let last = logs.lines(podUID, container).at(-1);
			let left: readonly LogLine[] | undefined;
			// A slow reader waits for no more than the log keeps, and misses what fell out meanwhile.
			const catchUp = (): void => {
				const lines = left ?? logs.lines(podUID, container);
				for (const line of lines.slice(last === undefined ? 0 : lines.indexOf(last) + 1)) {
					last = line;
					isBlocked = !sink.write(shown(line));
					if (isBlocked) return;
				}
				if (left !== undefined) sink.end();
			};
			const stop = logs.follow(podUID, container, (line) => {
				// It may be started again before the reader has read all: those lines are of another run.
				if (line === undefined) left ??= logs.lines(podUID, container);
				if (!isBlocked) catchUp();
			});
			const drained = (): void => {
				isBlocked = false;
				catchUp();
			};
			return { drained, closed: stop };
		},
	};
}

function containerOf({ metadata, spec }: Pod, query: URLSearchParams): string {
	const names = [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name);
	const asked = query.get("container") ?? "";
	if (asked !== "") {
		if (names.includes(asked)) return asked;
		throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
	}
	const [only] = spec.containers;
	if (only !== undefined && names.length === 1) return only.name;
	throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(" ")}]`);
}

/** Of a container that waits to be started again, the previous run is the last one, as in a kubelet. */
function runOf(pod: Pod, container: string, query: URLSearchParams): LogRun {
	const { state, lastState } = statusOf(pod, container) ?? {};
	const { waiting } = state ?? {};
	const hasRunBefore = lastState?.terminated !== undefined;
	const which = `container "${container}" in pod "${pod.metadata.name}"`;
	if (booleanOf(query, "previous")) {
		if (!hasRunBefore) throw badRequest(`previous terminated ${which} not found`);
		return waiting === undefined ? "previous" : "current";
	}
	// One that waits to be started again has printed something before.
	if (waiting?.reason !== undefined && !hasRunBefore) {
		throw badRequest(`${which} is waiting to start: ${waiting.reason}`);
	}
	return "current";
}

function statusOf({ status }: Pod, container: string): ContainerStatus | undefined {
	return (status?.containerStatuses ?? []).find(({ name }) => name === container);
}

/** Nothing more comes of a container that has ended, also if it is started again. */
function isOver(pod: Pod, container: string): boolean {
	const { state } = statusOf(pod, container) ?? {};
	const hasEnded = state !== undefined && state.running === undefined;
	return hasEnded || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

function selected(
	lines: readonly LogLine[],
	query: URLSearchParams,
	podName: string,
	nowMs: number,
): readonly LogLine[] {
	const sinceSeconds = wholeNumber(query, podName, "sinceSeconds");
	const sinceTime = query.get("sinceTime");
	const fromMs = sinceSeconds === undefined ? Date.parse(sinceTime ?? "") : nowMs - sinceSeconds * 1000;
	const recent = Number.isNaN(fromMs) ? lines : lines.filter(({ atMs }) => atMs >= fromMs);
	const tailLines = wholeNumber(query, podName, "tailLines");
	if (tailLines === undefined) return recent;
	return tailLines === 0 ? [] : recent.slice(-tailLines);
}

/** @throws {ApiError} `BadRequest` for what is no number, `Invalid` for one below zero. */
function wholeNumber(query: URLSearchParams, podName: string, name: string): number | undefined {
	const text = query.get(name);
	if (text === null || text === "") return undefined;
	if (/^\d{1,15}$/.test(text)) return Number(text);
	if (!/^-\d{1,15}$/.test(text)) {
		throw badRequest(
			`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax: ${name} must be a whole number`,
		);
	}
	const error = invalid(name, Number(text), "must be greater than or equal to 0");
	throw invalidObject({ group: "", kind: "PodLogOptions" }, podName, [error]);
}

function textOf({ atMs, text }: LogLine, withTime: boolean): string {
	return withTime ? `${new Date(atMs).toISOString()} ${text}\n` : `${text}\n`;
}

/** Lines are ASCII but for what clients sent in paths, so characters stand for bytes. */
function limited(text: string, bytesMax: number | undefined): string {
	return bytesMax === undefined ? text : text.slice(0, bytesMax);
}
