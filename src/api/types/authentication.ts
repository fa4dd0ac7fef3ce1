/** `authentication.k8s.io/v1`: whose token is this. */

export interface TokenReview {
	readonly apiVersion: string;
	readonly kind: string;
	readonly spec?: {
		readonly token?: string;
		/** For whom the token must be meant; empty: for the API server. */
		readonly audiences?: readonly string[];
	};
}
