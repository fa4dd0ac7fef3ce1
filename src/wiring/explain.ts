/** The package's door to explanations: why a Service has no, or wrong, endpoints, of any cluster that a client reaches. */
export type { ChainStep } from "../explain/chain.ts";
export type { ClientOrigin } from "../explain/client-place.ts";
export { CODES, type Code, type CodeName, type Severity } from "../explain/codes.ts";
export { Explainer, type ExplainTarget, type Explanation, explainService } from "../explain/explain.ts";
export type { Evidence, Finding, Verdict } from "../explain/finding.ts";
export type { Fix, FixTarget } from "../explain/fix.ts";
export { explanationText, type TextOptions } from "../explain/render.ts";
export { type ClusterSnapshot, EMPTY_SNAPSHOT, type Workload } from "../explain/snapshot.ts";
export { type ReadOptions, readCluster } from "./read-snapshot.ts";
