import { defineConfig, type ViteUserConfig } from "vitest/config";

const setupFiles = ["./vitest.setup.ts"];

/** `unit`: rooms and the house itself, no processes. `e2e`: the built program and real clients. `sim`: seeds of the whole plane. */
const config: ViteUserConfig = defineConfig({
	test: {
		// Two cores are the smallest machine the project supports.
		maxWorkers: 2,
		projects: [
			{
				test: {
					name: "unit",
					setupFiles,
					// Modules keep no state (all of it comes in through constructors), so files may share them: half the time.
					isolate: false,
					include: ["src/**/*.test.ts", "test/house/**/*.test.ts", "test/conformance/**/*.test.ts"],
					// A slow machine is no failure.
					testTimeout: 60_000,
				},
			},
			{
				test: {
					name: "e2e",
					setupFiles,
					// Of the examples, those that run by vitest as they stand.
					include: ["test/e2e/**/*.test.ts", "examples/**/*.vitest.ts"],
					testTimeout: 60_000,
					hookTimeout: 300_000,
				},
			},
			{
				test: {
					name: "sim",
					setupFiles,
					include: ["test/sim/**/*.test.ts"],
					testTimeout: 600_000,
				},
			},
			{
				test: {
					name: "long",
					setupFiles,
					include: ["test/long/**/*.test.ts"],
					testTimeout: 600_000,
					hookTimeout: 300_000,
				},
			},
		],
	},
});
export default config;
