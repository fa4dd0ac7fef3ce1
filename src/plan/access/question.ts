/** What the rules of RBAC are asked. */

/** Who asks. */
export interface Asker {
	readonly name: string;
	readonly groups: readonly string[];
}

/** An access to a resource, or to a path that is none. */
export type Question =
	| {
			readonly kind: "resource";
			readonly verb: string;
			readonly group: string;
			readonly plural: string;
			/** Undefined or "": the object itself. */
			readonly subresource?: string | undefined;
			/** "": at the cluster scope. */
			readonly namespace: string;
			/** "": no object in particular. */
			readonly name: string;
	  }
	| { readonly kind: "path"; readonly verb: string; readonly path: string };
