/** The order of versions: v2 before v1, both before v2beta1, that before v1alpha1; other names last, by alphabet. */
const KUBE_VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STAGES: readonly (string | undefined)[] = ["alpha", "beta", undefined];

export function byPriority(a: string, b: string): number {
	const [parsedA, parsedB] = [KUBE_VERSION.exec(a), KUBE_VERSION.exec(b)];
	if (parsedA === null || parsedB === null) {
		if (parsedA !== null || parsedB !== null) return parsedA === null ? 1 : -1;
		return a < b ? -1 : a > b ? 1 : 0;
	}
	const rank = ([, major, stage, minor = "0"]: RegExpExecArray): readonly number[] => [
		STAGES.indexOf(stage),
		Number(major),
		Number(minor),
	];
	const [ranksA, ranksB] = [rank(parsedA), rank(parsedB)];
	for (const [index, rankA] of ranksA.entries()) {
		const rankB = ranksB[index] ?? 0;
		if (rankA !== rankB) return rankB - rankA;
	}
	return 0;
}
