/** What happens to a Service when its nodes go: by drain, and by falling silent. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { freeNodePort, get } from "./node-ports.ts";
import { eventually, type Finished, finished, PROGRAM, RunningPlane } from "./plane.ts";

const newest = (await kubectlVersions(35))[0];
const TOLERATION_SECONDS = 2;
const tolerations = ["not-ready", "unreachable"].map((key) => ({
	key: `node.kubernetes.io/${key}`,
	operator: "Exists",
	effect: "NoExecute",
	tolerationSeconds: TOLERATION_SECONDS,
}));

interface PodJson {
	readonly metadata: { readonly deletionTimestamp?: string };
	readonly spec: { readonly nodeName: string };
	readonly status: { readonly phase: string };
}

function shop(nodePort: number): string {
	const labels = { app: "shop" };
	const template = {
		metadata: { labels },
		spec: { tolerations, containers: [{ name: "app", image: "example/shop:1" }] },
	};
	const deployment = { replicas: 6, selector: { matchLabels: labels }, template };
	const service = { type: "NodePort", selector: labels, ports: [{ port: 80, targetPort: 8080, nodePort }] };
	const items = [
		{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "shop" }, spec: deployment },
		{ apiVersion: "v1", kind: "Service", metadata: { name: "shop" }, spec: service },
	];
	return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

describe.skipIf(newest?.missing !== undefined)("a Service whose nodes go", () => {
	let plane: RunningPlane;
	let port: number;
	const kubectl = (args: string, input?: string): Promise<Finished> =>
		plane.kubectl(newest?.path ?? "", args.split(" "), input);
	const sliceplane = (...args: string[]): Promise<Finished> =>
		finished(process.execPath, [PROGRAM, ...args, "--kubeconfig", plane.kubeconfig]);
	/** Of the Pods that are not being deleted, how many run on each node. */
	const running = async (): Promise<Record<string, number>> => {
		const { items } = JSON.parse((await kubectl("get pods -o json")).stdout) as { items: PodJson[] };
		const counts: Record<string, number> = {};
		for (const { metadata, spec, status } of items) {
			if (status.phase !== "Running" || metadata.deletionTimestamp !== undefined) continue;
			counts[spec.nodeName] = (counts[spec.nodeName] ?? 0) + 1;
		}
		return counts;
	};

	beforeAll(async () => {
		plane = await RunningPlane.start(["--nodes", "3", "--node-monitor-grace-period", "3s"]);
		port = await freeNodePort();
		await kubectl("apply -f -", shop(port));
		await kubectl("rollout status deployment/shop --timeout=30s");
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer.startsWith("shop-"),
		);
	});
	afterAll(() => plane?.stop());

	test("keeps answering while n1 is drained and n2 falls silent, and its Pods are replaced", async () => {
		const answers: string[] = [];
		let isOver = false;
		const asking = (async () => {
			while (!isOver) {
				answers.push(await get(port, "/hostname"));
				await new Promise((resolve) => setTimeout(resolve, 20));
			}
		})();

		expect(await kubectl("drain n1 --timeout=60s")).toMatchObject({ status: 0 });
		await eventually(running, (counts) => counts["n1"] === undefined && sum(counts) === 6, {
			what: "6 Pods beside n1",
		});

		expect(await sliceplane("fail", "node/n2")).toMatchObject({ status: 0 });
		const slices = () => kubectl("get endpointslices -o json");
		await eventually(slices, ({ stdout }) => unreadyNodes(stdout).has("n2"), { what: "endpoints of n2 not ready" });
		const ready = await kubectl("get node n2 -o jsonpath={.status.conditions[?(@.type=='Ready')].status}");
		expect(ready.stdout).toBe("Unknown");
		await eventually(running, (counts) => counts["n3"] === 6, { what: "6 Pods on n3", withinMs: 60_000 });

		expect(await sliceplane("recover", "node/n2")).toMatchObject({ status: 0 });
		expect(await kubectl("wait --for=condition=Ready node/n2 --timeout=30s")).toMatchObject({ status: 0 });
		isOver = true;
		await asking;
		expect(answers.filter((answer) => !answer.startsWith("shop-"))).toEqual([]);
		expect(answers.length).toBeGreaterThan(20);
	});
});

function sum(counts: Readonly<Record<string, number>>): number {
	return Object.values(counts).reduce((total, count) => total + count, 0);
}

function unreadyNodes(json: string): ReadonlySet<string> {
	const { items } = JSON.parse(json) as {
		items: { endpoints: { nodeName?: string; conditions: { ready?: boolean } }[] | null }[];
	};
	const unready = items
		.flatMap(({ endpoints }) => endpoints ?? [])
		.filter(({ conditions }) => conditions.ready === false);
	return new Set(unready.map(({ nodeName = "" }) => nodeName));
}
