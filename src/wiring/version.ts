import { createRequire } from "node:module";
import type { VersionInfo } from "../apiserver/http/path-handler.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { readonly version: string };

/** The Kubernetes release whose behaviour is served. */
const KUBERNETES = { major: "1", minor: "36", patch: "2" } as const;

const api: VersionInfo = {
	major: KUBERNETES.major,
	minor: KUBERNETES.minor,
	gitVersion: `v${KUBERNETES.major}.${KUBERNETES.minor}.${KUBERNETES.patch}+sliceplane`,
	gitCommit: `sliceplane-${version}`,
	gitTreeState: "clean",
	buildDate: "1970-01-01T00:00:00Z",
	goVersion: "none",
	compiler: "tsc",
	platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
	emulationMajor: KUBERNETES.major,
	emulationMinor: KUBERNETES.minor,
	minCompatibilityMajor: KUBERNETES.major,
	minCompatibilityMinor: String(Number(KUBERNETES.minor) - 1),
};

export const VERSION: { readonly sliceplane: string; readonly api: VersionInfo } = { sliceplane: version, api };
