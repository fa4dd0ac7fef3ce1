/**
 * Reads a label selector as it stands in a query: `app=web,tier in (a,b),!legacy,size>5`.
 * A comma means "and".
 */
import { compareStrings } from "../kernel/order.ts";
import { isInteger, type Requirement, type Requirements, type SelectorOperator } from "./label-selector.ts";
import { labelValueProblems, qualifiedNameProblems } from "./names.ts";
import { badRequest } from "./status.ts";

/** A word, a symbol, or "" for the end of the text. */
type Token = string;

const SYMBOLS: readonly string[] = ["!=", "==", "=", "!", "(", ")", ",", "<", ">"];
const OPERATORS: Readonly<Record<Token, SelectorOperator>> = {
	in: "in",
	notin: "notin",
	"=": "=",
	"==": "==",
	"!=": "!=",
	">": "gt",
	"<": "lt",
};
const OPERATOR_LIST = "in, notin, =, ==, !=, gt, lt";

/** @throws {ApiError} `BadRequest` that says what was found and what was expected. */
export function parseLabelSelector(text: string): Requirements {
	return new LabelSelectorParser(tokensOf(text)).selector();
}

function tokensOf(text: string): readonly Token[] {
	return text.match(/[^\s=!(),<>]+|!=|==|[=!(),<>]/g) ?? [];
}

function isWord(token: Token): boolean {
	return token !== "" && !SYMBOLS.includes(token);
}

class LabelSelectorParser {
	readonly #tokens: readonly Token[];
	#position = 0;

	constructor(tokens: readonly Token[]) {
		this.#tokens = tokens;
	}

	selector(): Requirements {
		if (this.#peek() === "") return [];
		const requirements: Requirement[] = [];
		for (;;) {
			if (!this.#isAtRequirement()) throw fault(this.#peek(), "!, identifier, or 'end of string'");
			requirements.push(this.#requirement());
			const separator = this.#take();
			if (separator === "") return requirements;
			if (separator !== ",") throw fault(separator, "',' or 'end of string'");
			if (!this.#isAtRequirement()) throw fault(this.#peek(), "identifier after ','");
		}
	}

	#peek(): Token {
		return this.#tokens[this.#position] ?? "";
	}

	#take(): Token {
		const token = this.#peek();
		this.#position++;
		return token;
	}

	#isAtRequirement(): boolean {
		return this.#peek() === "!" || isWord(this.#peek());
	}

	#requirement(): Requirement {
		const isNegated = this.#peek() === "!";
		if (isNegated) this.#take();
		const key = this.#take();
		if (!isWord(key)) throw badRequirement(`found '${key}', expected: identifier`);
		checkKey(key);
		if (isNegated) return { key, operator: "!", values: [] };
		if (this.#peek() === "" || this.#peek() === ",") return { key, operator: "exists", values: [] };
		const operator = this.#operator();
		const values = operator === "in" || operator === "notin" ? this.#values() : [this.#exactValue()];
		return checked({ key, operator, values });
	}

	#operator(): SelectorOperator {
		const token = this.#take();
		const operator = Object.hasOwn(OPERATORS, token) ? OPERATORS[token] : undefined;
		if (operator === undefined) throw badRequirement(`found '${token}', expected: ${OPERATOR_LIST}`);
		return operator;
	}

	/** `k=` compares with the empty value. */
	#exactValue(): string {
		if (this.#peek() === "" || this.#peek() === ",") return "";
		const token = this.#take();
		if (!isWord(token)) throw badRequirement(`found '${token}', expected: identifier`);
		return token;
	}

	/** Between commas, or a comma and a bracket, stands the empty value: `(a,)` is a or nothing. */
	#values(): readonly string[] {
		const open = this.#take();
		if (open !== "(") throw badRequirement(`found '${open}' expected: '('`);
		const values = new Set<string>();
		if (this.#peek() === ")") {
			this.#take();
			return [];
		}
		for (;;) {
			values.add(isWord(this.#peek()) ? this.#take() : "");
			const separator = this.#take();
			if (separator === ")") return [...values].sort(compareStrings);
			if (separator !== ",") throw badRequirement(`found '${separator}', expected: ',' or ')'`);
		}
	}
}

function fault(found: Token, expected: string): Error {
	return badRequest(`found '${found}', expected: ${expected}`);
}

function badRequirement(why: string): Error {
	return badRequest(`unable to parse requirement: ${why}`);
}

/** The key is checked before it has a path: `<nil>` is what a real server prints there. */
function checkKey(key: string): void {
	const problems = qualifiedNameProblems(key);
	if (problems.length > 0) throw badRequirement(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problems.join("; ")}`);
}

function checked(requirement: Requirement): Requirement {
	const problems = [...operandProblems(requirement), ...valueProblems(requirement)];
	if (problems.length === 0) return requirement;
	throw badRequirement(problems.length === 1 ? `${problems[0]}` : `[${problems.join(", ")}]`);
}

function operandProblems({ operator, values }: Requirement): readonly string[] {
	if (operator === "gt" || operator === "lt") {
		return values.flatMap((value, index) =>
			isInteger(value)
				? []
				: [
						`values[${index}]: Invalid value: ${JSON.stringify(value)}:` +
							" for 'Gt', 'Lt' operators, the value must be an integer",
					],
		);
	}
	return values.length === 0
		? ["values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"]
		: [];
}

function valueProblems({ key, values }: Requirement): readonly string[] {
	return values.flatMap((value, index) => {
		const problems = labelValueProblems(value);
		if (problems.length === 0) return [];
		return [`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problems.join("; ")}`];
	});
}
