import { describe, expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { type ApiClient, type ListOptions, TransportError } from "../machinery/api-client.ts";
import { pod, slice } from "../testing/explained-objects.ts";
import { readCluster } from "./read-snapshot.ts";

/** Answers lists of Pods by `pods`, others with nothing, and notes what was asked for. */
function client(pods: (options: ListOptions) => object): { readonly asked: ListOptions[]; readonly client: ApiClient } {
	const asked: ListOptions[] = [];
	const list = async (resource: { readonly kind: string }, options: ListOptions): Promise<object> => {
		if (resource.kind !== "Pod") return { items: [], resourceVersion: "1" };
		asked.push(options);
		return pods(options);
	};
	const get = async (): Promise<never> => {
		throw new ApiError("NotFound", "no such Lease");
	};
	return { asked, client: { list, get } as never };
}

const named = (name: string) => ({ ...pod({ name }), metadata: { ...pod({ name }).metadata, managedFields: [{}] } });

describe("readCluster()", () => {
	test("reads page after page, and keeps what is looked at", async () => {
		const pages: Readonly<Record<string, object>> = {
			"": { items: [named("a")], resourceVersion: "1", continue: "more" },
			more: { items: [named("b")], resourceVersion: "1" },
		};
		const { asked, client: api } = client(({ continue: at = "" }) => pages[at] ?? {});
		const { pods, missing } = await readCluster(api);
		expect(pods.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
		expect(pods[0]?.metadata).not.toHaveProperty("managedFields");
		expect(asked).toEqual([{ limit: 500 }, { limit: 500, continue: "more" }]);
		expect(missing).toEqual([]);
	});

	test("takes all at once when the past of its pages is gone", async () => {
		const { asked, client: api } = client(({ limit, continue: next }) => {
			if (next !== undefined) throw new ApiError("Expired", "too old");
			return { items: [named("a")], resourceVersion: "1", ...(limit === undefined ? {} : { continue: "more" }) };
		});
		expect((await readCluster(api)).pods).toHaveLength(1);
		expect(asked).toEqual([{ limit: 500 }, { limit: 500, continue: "more" }, {}]);
	});

	test("reads the one namespace that it may, and says so", async () => {
		const { client: api } = client(({ namespace }) => {
			if (namespace === undefined) throw new ApiError("Forbidden", "no");
			return { items: [named("a")], resourceVersion: "1" };
		});
		const { pods, missing } = await readCluster(api, { namespace: "default" });
		expect([pods.length, missing]).toEqual([1, ["Pod of namespaces but default"]]);
	});

	test("tells in one order what is missing, and of each right once that nothing could do without", async () => {
		const told: string[] = [];
		const list = async ({ kind }: { readonly kind: string }, { namespace }: ListOptions): Promise<object> => {
			// The later kinds answer first.
			for (let turn = 0; turn < (kind === "Service" ? 20 : 0); turn++) await Promise.resolve();
			if (namespace === undefined || kind === "Event") throw new ApiError("Forbidden", `no ${kind} in ${namespace}`);
			return { items: [], resourceVersion: "1" };
		};
		const get = async (): Promise<never> => {
			throw new ApiError("Forbidden", "no Lease");
		};
		const refused = ({ message }: ApiError): void => void told.push(message);
		const { missing } = await readCluster({ list, get } as never, { namespace: "team", refused });
		expect(missing).toEqual([
			...["Service", "Pod", "Endpoints", "EndpointSlice"].map((kind) => `${kind} of namespaces but team`),
			"Node",
			"Event",
			...["Deployment", "ReplicaSet", "StatefulSet"].map((kind) => `${kind} of namespaces but team`),
			"Lease",
		]);
		expect([...new Set(told)].sort()).toEqual(["no Event in team", "no Lease", "no Node in undefined"]);
	});

	test("leaves out of slices the Pods that have gone while it read, and no others", async () => {
		const listed = (...names: readonly string[]) => ({
			...slice({ addresses: [] }),
			endpoints: names.map((name) => ({
				addresses: ["10.244.0.1"],
				conditions: { ready: true },
				targetRef: { kind: "Pod", namespace: "default", name },
			})),
		});
		const slices = [listed("a", "passing", "stale"), listed("a", "new", "stale")];
		const list = async ({ kind }: { readonly kind: string }): Promise<object> => {
			if (kind === "EndpointSlice") return { items: [slices.shift()], resourceVersion: "1" };
			return { items: kind === "Pod" ? [pod({ name: "a" })] : [], resourceVersion: "1" };
		};
		const get = async (): Promise<never> => {
			throw new ApiError("NotFound", "no such Lease");
		};
		const { slices: found } = await readCluster({ list, get } as never);
		expect(found[0]?.endpoints?.map(({ targetRef }) => targetRef?.name)).toEqual(["a", "stale"]);
	});

	test("fails for what is neither", async () => {
		const { client: api } = client(() => {
			throw new ApiError("InternalError", "broken");
		});
		await expect(readCluster(api)).rejects.toThrow("broken");
	});

	test("fails once where nothing is answered, with no failure left that nobody waits for", async () => {
		const unhandled: unknown[] = [];
		const see = (error: unknown): void => void unhandled.push(error);
		process.on("unhandledRejection", see);
		const refuse = async (): Promise<never> => {
			throw new TransportError("unreachable", "Cannot reach https://127.0.0.1:1");
		};
		await expect(readCluster({ list: refuse, get: refuse } as never)).rejects.toThrow("Cannot reach");
		await new Promise((resolve) => setImmediate(resolve));
		process.off("unhandledRejection", see);
		expect(unhandled).toEqual([]);
	});
});
