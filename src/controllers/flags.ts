/** Numbers that a controller is started with. */

export interface Bounds {
	/** As the command line spells it, without dashes. */
	readonly flag: string;
	readonly value: number;
	readonly min: number;
	readonly max: number;
}

/** @throws {RangeError} in kube-controller-manager's words, before anything is started. */
export function checkBounds({ flag, value, min, max }: Bounds): void {
	if (value < min) throw new RangeError(`${flag} must not be less than ${min}, but got ${value}`);
	if (value > max) throw new RangeError(`${flag} must not be more than ${max}, but got ${value}`);
}
