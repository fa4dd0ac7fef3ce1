import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RevisionAssembler } from "./revisions.ts";

interface Event {
	readonly revision: number;
	readonly key: string;
}

const event = (revision: number, key: string): Event => ({ revision, key });

describe("RevisionAssembler", () => {
	test("gives all events of one revision at once, in their order", () => {
		const [a, b, c] = [event(5, "b"), event(5, "a"), event(7, "a")];
		expect(new RevisionAssembler<Event>().add([a, b, c], false)).toEqual([
			{ revision: 5, events: [a, b] },
			{ revision: 7, events: [c] },
		]);
	});

	test("gives nothing of a response before its last fragment, for that may end inside of a revision", () => {
		const assembler = new RevisionAssembler<Event>();
		expect(assembler.add([event(4, "x"), event(5, "a")], true)).toEqual([]);
		expect(assembler.add([event(5, "b")], false).map(({ revision, events }) => [revision, events.length])).toEqual([
			[4, 1],
			[5, 2],
		]);
		expect(assembler.add([], false)).toEqual([]);
	});

	test("wherever a response is cut, the revisions are the same", () => {
		const events = fc.array(fc.record({ revision: fc.nat(5), key: fc.string() }));
		fc.assert(
			fc.property(events, fc.nat(), (given, at) => {
				const sorted = [...given].sort((a, b) => a.revision - b.revision);
				const cut = at % (sorted.length + 1);
				const assembler = new RevisionAssembler<Event>();
				assembler.add(sorted.slice(0, cut), true);
				const parts = assembler.add(sorted.slice(cut), false);
				expect(parts).toEqual(new RevisionAssembler<Event>().add(sorted, false));
				expect(parts.flatMap((part) => part.events)).toEqual(sorted);
			}),
		);
	});
});
