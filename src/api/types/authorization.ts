/** `authorization.k8s.io/v1` and `authentication.k8s.io/v1`: questions about users, and their answers. */

export interface ResourceAttributes {
	readonly namespace?: string;
	readonly verb?: string;
	readonly group?: string;
	readonly version?: string;
	readonly resource?: string;
	readonly subresource?: string;
	readonly name?: string;
}

export interface NonResourceAttributes {
	readonly path?: string;
	readonly verb?: string;
}

export interface AccessReviewSpec {
	readonly resourceAttributes?: ResourceAttributes;
	readonly nonResourceAttributes?: NonResourceAttributes;
	/** Of a SubjectAccessReview: whom it is about. */
	readonly user?: string;
	readonly groups?: readonly string[];
	readonly uid?: string;
}

/** Any of the access reviews. */
export interface AccessReview {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata?: { readonly namespace?: string };
	readonly spec?: AccessReviewSpec;
}

export interface RulesReview {
	readonly apiVersion: string;
	readonly kind: string;
	readonly spec?: { readonly namespace?: string };
}
