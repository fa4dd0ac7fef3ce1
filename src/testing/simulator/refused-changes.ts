/** Writes that the server must refuse, and that must leave everything as it was. */
import { SERVICES } from "../../api/resource-names.ts";
import { ApiError } from "../../api/status.ts";
import type { Service } from "../../api/types/core.ts";
import { placeOf, type User } from "./user.ts";

interface BadWrite {
	readonly reasons: readonly string[];
	send(user: User, service: Service): Promise<unknown>;
}

const OLD_UID = "00000000-0000-4000-8000-ffffffffffff";

const BAD_WRITES: Readonly<Record<string, BadWrite>> = {
	"an update of an older version": {
		reasons: ["Conflict"],
		send({ client, dice }, service) {
			const labels = { app: `stale${dice.below(100)}` };
			return client.update(SERVICES, { ...service, metadata: { ...service.metadata, labels, resourceVersion: "5" } });
		},
	},
	"an update of another object of the name": {
		reasons: ["Conflict"],
		send: ({ client }, service) =>
			client.update(SERVICES, { ...service, metadata: { ...service.metadata, uid: OLD_UID } }),
	},
	"a deletion of another object of the name": {
		reasons: ["Conflict"],
		send: ({ client }, service) => client.delete(SERVICES, placeOf(service), { preconditions: { uid: OLD_UID } }),
	},
	"a deletion of an older version": {
		reasons: ["Conflict"],
		send: ({ client }, service) =>
			client.delete(SERVICES, placeOf(service), { preconditions: { resourceVersion: "5" } }),
	},
	"a second object of the name": {
		reasons: ["AlreadyExists", "Forbidden"],
		send: ({ client }, { metadata: { namespace = "", name } }) =>
			client.create(SERVICES, namespace, { metadata: { name }, spec: { ports: [{ port: 80 }] } }),
	},
	"a port out of range": {
		reasons: ["Invalid"],
		send: ({ client }, service) =>
			client.patch(SERVICES, placeOf(service), { type: "merge", body: { spec: { ports: [{ port: 70_000 }] } } }),
	},
	"a node port out of the range": {
		// Forbidden where the namespace is being deleted.
		reasons: ["Invalid", "Forbidden"],
		send: ({ client }, { metadata: { namespace = "" } }) =>
			client.create(SERVICES, namespace, {
				metadata: { name: "refused" },
				spec: { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
			}),
	},
	"another cluster IP": {
		reasons: ["Invalid"],
		send: ({ client }, service) =>
			client.patch(SERVICES, placeOf(service), {
				type: "merge",
				body: { spec: { type: "ClusterIP", clusterIP: "10.96.9.9", clusterIPs: ["10.96.9.9"] } },
			}),
	},
};

export async function tryRefused(user: User): Promise<void> {
	// Headless Services and those by name have no address to keep.
	const service = user.any(
		SERVICES,
		({ spec, metadata }) => hasAddress(spec) && metadata.deletionTimestamp === undefined,
	);
	if (service === undefined) return;
	const [what, write] = user.dice.of(Object.entries(BAD_WRITES));
	const { model, verdict, did } = user.ports;
	const key = `${service.metadata.namespace}/${service.metadata.name}`;
	const before = model.revision;
	const outcome = await write.send(user, service).then(
		() => "accepted",
		(error: unknown) => (error instanceof ApiError ? error.reason : String(error)),
	);
	did(`user is refused ${what} ${key}: ${outcome}`);
	const commits = model.space({ storagePrefix: "/registry/services/specs/" }).log;
	const changed = commits.slice(-3).filter((event) => event.revision > before && event.key === key);
	// Whoever deletes the namespace meanwhile is not this user.
	if (outcome === "NotFound" && changed.every(({ isDeletion }) => isDeletion)) return;
	if (!write.reasons.includes(outcome)) verdict.broke("refused", `${what} of Service ${key}: ${outcome}`);
	else if (changed.some(({ isDeletion }) => !isDeletion)) verdict.broke("refused", `${what} of ${key} changed it`);
}

function hasAddress({ clusterIP = "None" }: Service["spec"]): boolean {
	return clusterIP !== "None" && clusterIP !== "";
}
