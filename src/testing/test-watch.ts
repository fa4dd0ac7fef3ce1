/** An open watch of a {@link TestServer}: what a client's socket would get, frame by frame. */
import type { HttpResponse, StreamBody } from "../apiserver/http/message.ts";
import type { FrameSink } from "../apiserver/watch/watch-hub.ts";
import { settle } from "./virtual-clock.ts";

export interface TestWatchEvent {
	readonly type: string;
	readonly object: {
		readonly kind?: string;
		readonly apiVersion?: string;
		readonly metadata: {
			readonly name?: string;
			readonly resourceVersion?: string;
			readonly annotations?: Readonly<Record<string, string>>;
		};
		readonly [key: string]: unknown;
	};
}

export class TestWatch {
	readonly headers: HttpResponse["headers"];
	/** As they were written, oldest first; shared between watchers of a group. */
	readonly frames: Uint8Array[] = [];
	/** The server has closed the watch. */
	isEnded = false;
	/** Frames that the socket takes before it says that it is full. */
	#room = Number.POSITIVE_INFINITY;
	readonly #stream: ReturnType<StreamBody["start"]>;

	constructor({ headers }: HttpResponse, body: StreamBody) {
		this.headers = headers;
		const sink: FrameSink = {
			write: (frame) => {
				this.frames.push(frame);
				this.#room--;
				return this.#room > 0;
			},
			end: () => {
				this.isEnded = true;
			},
		};
		this.#stream = body.start(sink);
	}

	/** Every event so far. */
	get events(): readonly TestWatchEvent[] {
		return this.frames.map((frame) => JSON.parse(new TextDecoder().decode(frame)));
	}

	/**
	 * Every event so far as `ADDED web@105`, `BOOKMARK @106` or `ERROR 410 Expired`, after what is under way has
	 * come in.
	 */
	async told(): Promise<readonly string[]> {
		await settle();
		return this.events.map(({ type, object }) => {
			if (type === "ERROR") return `ERROR ${object["code"]} ${object["reason"]}`;
			return `${type} ${object.metadata.name ?? ""}@${object.metadata.resourceVersion ?? ""}`;
		});
	}

	/** From now on the socket is full: the next frame is taken, and no more after it. */
	block(): void {
		this.#room = 1;
	}

	/** The socket takes data again: as much as there is, or only so many frames. */
	drain(frames: number = Number.POSITIVE_INFINITY): void {
		this.#room = frames;
		this.#stream.drained();
	}

	/** The server ends, and closes what it has open. */
	serverEnded(): void {
		this.isEnded = true;
		this.#stream.closed();
	}

	/** The client goes away. */
	close(): void {
		this.#stream.closed();
	}
}
