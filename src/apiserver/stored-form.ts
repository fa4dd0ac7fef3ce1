/**
 * Resources that are one stored object in several shapes: Events of `v1` and of `events.k8s.io/v1`, and the versions
 * of a custom resource.
 *
 * Objects are turned into the resource's own shape where they leave the store, and back where they enter it, so
 * that every rule in between sees the shape that it knows.
 */
import type { ResourceType } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { deepFreeze } from "../kernel/json.ts";
import type { Entry } from "../store/entry.ts";
import { type ServerPorts, storeKey, type Target } from "./ports.ts";

/** By the stored object: one shape of it, made once, so that its bytes are shared too. */
const shapes = new WeakMap<KubeObject, WeakMap<object, KubeObject>>();

/** The stored object in the shape of its resource. The same object gives the same shape. */
export function shownForm({ storedForm }: ResourceType, object: KubeObject): KubeObject {
	if (storedForm === undefined) return object;
	const known = shapes.get(object) ?? new WeakMap<object, KubeObject>();
	shapes.set(object, known);
	const shape = known.get(storedForm) ?? deepFreeze(storedForm.fromStored(object));
	known.set(storedForm, shape);
	return shape;
}

export function storedForm(type: ResourceType, object: KubeObject): KubeObject {
	return type.storedForm === undefined ? object : type.storedForm.toStored(object);
}

/** What is stored under the target's name, in the shape of its resource. */
export function shownEntry({ store }: Pick<ServerPorts, "store">, target: Target): Entry | undefined {
	const entry = store.space(target.type.storagePrefix).get(storeKey(target));
	if (entry === undefined || target.type.storedForm === undefined) return entry;
	return { ...entry, object: shownForm(target.type, entry.object) };
}
