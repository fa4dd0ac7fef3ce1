import { describe } from "vitest";
import { engineSuite } from "../testing/engine-suite.ts";
import { memoryStore } from "./store.ts";

describe("the memory engine", () => {
	engineSuite(() => ({
		isKept: false,
		open: () => Promise.resolve({ stores: [memoryStore(100)], close: () => Promise.resolve() }),
	}));
});
