/**
 * Amounts of resources: `100m`, `1.5Gi`, `1e3`. A server writes each in one form only, the shortest without a
 * fraction, whatever the client sent (apimachinery's resource.Quantity).
 */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE])|([KMGTPE])i|[eE]([+-]?\d+))?$/;
/** Of these the short form is the form itself. */
const CANONICAL = /^[1-9]\d{0,2}(?:[numkMGTP]|[KMGTP]i)?$/;
const DECIMAL_EXPONENTS: ReadonlyMap<string, number> = new Map([
	["n", -9],
	["u", -6],
	["m", -3],
	["k", 3],
	["M", 6],
	["G", 9],
	["T", 12],
	["P", 15],
	["E", 18],
]);
const DECIMAL_SUFFIXES: ReadonlyMap<number, string> = new Map(
	[...DECIMAL_EXPONENTS].map(([suffix, exponent]) => [exponent, suffix]),
);
const BINARY_SUFFIXES = ["", "K", "M", "G", "T", "P", "E"];
const NANO = 1_000_000_000n;
/** In billionths: what is more counts as this. */
const MAX = (2n ** 63n - 1n) * NANO;
/** Digits on each side of the point that can matter, and then some; so that no text makes the sum expensive. */
const DIGITS_MAX = 40;

interface Quantity {
	readonly isNegative: boolean;
	/** Without its sign, in billionths. */
	readonly nanos: bigint;
	readonly form: "decimal" | "binary" | "exponent";
}

/** The one form of a quantity, or undefined when the text is none. */
export function canonicalQuantity(text: string): string | undefined {
	if (CANONICAL.test(text)) return text;
	const quantity = parsed(text);
	if (quantity === undefined) return undefined;
	if (quantity.nanos === 0n) return "0";
	return `${quantity.isNegative ? "-" : ""}${written(quantity)}`;
}

/** Whether the first is more than the second; false when either is no quantity. */
export function isMoreThan(text: string, other: string): boolean {
	const [a, b] = [parsed(text), parsed(other)];
	return a !== undefined && b !== undefined && signed(a) > signed(b);
}

/** The amount in billionths, or undefined when the text is no quantity. */
export function nanosOfQuantity(text: string): bigint | undefined {
	const quantity = parsed(text);
	return quantity === undefined ? undefined : signed(quantity);
}

function signed({ isNegative, nanos }: Quantity): bigint {
	return isNegative ? -nanos : nanos;
}

function parsed(text: string): Quantity | undefined {
	const match = QUANTITY.exec(text);
	if (match === null) return undefined;
	const [, sign, whole = "", fraction = "", decimal, binary, exponent] = match;
	if (whole === "" && fraction === "") return undefined;
	const digits = [whole.replace(/^0+/, ""), fraction.slice(0, DIGITS_MAX)] as const;
	const tens = decimal === undefined ? Number(exponent ?? 0) : (DECIMAL_EXPONENTS.get(decimal) ?? 0);
	const kibis = binary === undefined ? 0 : BINARY_SUFFIXES.indexOf(binary);
	const form = binary !== undefined ? "binary" : exponent === undefined ? "decimal" : "exponent";
	return { isNegative: sign === "-", nanos: nanosOf(digits, tens, kibis), form };
}

/** A rest below a billionth rounds up: who asked for something gets something. */
function nanosOf([whole, fraction]: readonly [string, string], tens: number, kibis: number): bigint {
	const isZero = !/[1-9]/.test(whole + fraction);
	if (isZero) return 0n;
	if (tens < -2 * DIGITS_MAX) return 1n;
	if (tens > 2 * DIGITS_MAX || whole.length > DIGITS_MAX) return MAX;
	const up = BigInt(whole + fraction) * 1024n ** BigInt(kibis) * 10n ** BigInt(9 + Math.max(tens, 0));
	const down = 10n ** BigInt(fraction.length + Math.max(-tens, 0));
	const nanos = (up + down - 1n) / down;
	return nanos > MAX ? MAX : nanos;
}

function written({ nanos, form }: Quantity): string {
	// Small and broken amounts of bytes are written as other numbers are.
	const isBinary = form === "binary" && nanos >= 1024n * NANO && nanos % NANO === 0n;
	return isBinary ? writtenBinary(nanos / NANO) : writtenDecimal(nanos, form === "exponent");
}

function writtenBinary(units: bigint): string {
	let [mantissa, power] = [units, 0];
	while (mantissa % 1024n === 0n && power < BINARY_SUFFIXES.length - 1) {
		mantissa /= 1024n;
		power++;
	}
	return power === 0 ? `${mantissa}` : `${mantissa}${BINARY_SUFFIXES[power]}i`;
}

function writtenDecimal(nanos: bigint, withExponent: boolean): string {
	let [mantissa, exponent] = [nanos, -9];
	while (mantissa % 10n === 0n) {
		mantissa /= 10n;
		exponent++;
	}
	for (; exponent % 3 !== 0; exponent--) mantissa *= 10n;
	if (exponent === 0) return `${mantissa}`;
	return `${mantissa}${withExponent ? `e${exponent}` : DECIMAL_SUFFIXES.get(exponent)}`;
}
