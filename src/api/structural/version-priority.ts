/** The order of versions: v2 before v1, both before v2beta1, that before v1alpha1; other names last, by alphabet. */
const KUBE_VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STAGES: readonly (string | undefined)[] = ["alpha", "beta", undefined];

export function byPriority(a: string, b: string): number {
	const [ranksA, ranksB] = [ranksOf(a), ranksOf(b)];
	for (const [index, rankA] of ranksA.entries()) {
		const rankB = ranksB[index] ?? 0;
		if (rankA !== rankB) return rankB - rankA;
	}
	return a < b ? -1 : Number(a > b);
}

/** Stage, number of the version, number within the stage. */
function ranksOf(version: string): readonly number[] {
	const parsed = KUBE_VERSION.exec(version);
	if (parsed === null) return [-1, 0, 0];
	const [, major, stage, minor = "0"] = parsed;
	return [STAGES.indexOf(stage), Number(major), Number(minor)];
}
