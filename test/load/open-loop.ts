/** Requests at a steady rate, whatever becomes of them: a slow answer delays none of those that follow. */

export interface LoadReport {
	readonly sent: number;
	/** How often each failure was seen. */
	readonly failures: Readonly<Record<string, number>>;
}

/** Sends one request. Resolves with why it failed, or undefined. */
export type Send = () => Promise<string | undefined>;

const TICK_MS = 5;

/** Sends by each way in turn until `work` is done; resolves when every request has ended. */
export async function underLoad(
	perSecond: number,
	ways: readonly Send[],
	work: () => Promise<void>,
): Promise<LoadReport> {
	const failures: Record<string, number> = {};
	const open = new Set<Promise<void>>();
	const startMs = performance.now();
	let sent = 0;
	const tick = (): void => {
		const due = Math.floor(((performance.now() - startMs) / 1000) * perSecond);
		for (; sent < due; sent++) {
			const way = ways[sent % ways.length];
			if (way === undefined) return;
			const one: Promise<void> = way().then((failure) => {
				open.delete(one);
				if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
			});
			open.add(one);
		}
	};
	const timer = setInterval(tick, TICK_MS);
	try {
		await work();
	} finally {
		clearInterval(timer);
	}
	await Promise.all(open);
	return { sent, failures };
}
