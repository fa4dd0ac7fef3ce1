/** Deployments and Services that are rolled under load. */

export interface RolledDeployment {
	readonly name: string;
	readonly image: string;
	readonly replicas: number;
	readonly strategy?: { readonly maxSurge: number | string; readonly maxUnavailable: number | string };
	readonly node?: string;
	readonly annotations?: Readonly<Record<string, string>>;
}

/** Its Pods are of the Service `shop`, whatever its name. */
export function deployment({ name, image, replicas, strategy, node, annotations }: RolledDeployment): object {
	const labels = { app: "shop", part: name };
	return {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: { name, namespace: "default" },
		spec: {
			replicas,
			selector: { matchLabels: { part: name } },
			...(strategy === undefined ? {} : { strategy: { type: "RollingUpdate", rollingUpdate: strategy } }),
			template: {
				metadata: { labels, annotations: annotations ?? {} },
				spec: {
					containers: [{ name: "shop", image }],
					...(node === undefined ? {} : { nodeSelector: { "kubernetes.io/hostname": node } }),
				},
			},
		},
	};
}

export function shopService(spec: object, nodePort: number): object {
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata: { name: "shop", namespace: "default" },
		spec: { selector: { app: "shop" }, ports: [{ name: "http", port: 80, targetPort: 8080, nodePort }], ...spec },
	};
}
