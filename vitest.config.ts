import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
	test: {
		setupFiles: ["./vitest.setup.ts"],
		include: ["src/**/*.test.ts", "test/house/**/*.test.ts"],
		// Two cores are the smallest machine the project supports.
		maxWorkers: 2,
	},
});
export default config;
