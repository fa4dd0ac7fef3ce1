/** `--controllers`, in kube-controller-manager's syntax: `*` is all, `name` adds one, `-name` leaves one out. */

/** @throws {RangeError} For a name that no controller has; the message lists those that are there. */
export function selectedControllers(known: readonly string[], asked: readonly string[]): ReadonlySet<string> {
	for (const word of asked) {
		const name = word.replace(/^-/, "");
		if (word === "*" || known.includes(name)) continue;
		throw new RangeError(
			`--controllers: ${JSON.stringify(name)} is no controller: want "*" or some of ${known.join(", ")}`,
		);
	}
	const isSelected = (name: string): boolean => {
		if (asked.includes(name)) return true;
		return asked.includes("*") && !asked.includes(`-${name}`);
	};
	return new Set(known.filter(isSelected));
}

/** True to upstream, a list that only leaves out selects nothing; hardly anyone means that. */
export function selectionHint(asked: readonly string[]): string | undefined {
	if (asked.some((word) => !word.startsWith("-"))) return undefined;
	const [example = "-scheduler"] = asked;
	return `no controller runs: to leave one out write '*,${example}'`;
}
