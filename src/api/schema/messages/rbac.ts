/** Messages of the group rbac.authorization.k8s.io. For the notation see `../notation.ts`. */

export const RBAC = `
Role kind
	1 metadata meta.ObjectMeta; 2 rules PolicyRule[] null
ClusterRole kind
	1 metadata meta.ObjectMeta; 2 rules PolicyRule[] null; 3 aggregationRule AggregationRule?
AggregationRule
	1 clusterRoleSelectors meta.LabelSelector[]
PolicyRule
	1 verbs string[]*; 2 apiGroups string[]; 3 resources string[]; 4 resourceNames string[]; 5 nonResourceURLs string[]
RoleBinding kind
	1 metadata meta.ObjectMeta; 2 subjects Subject[]; 3 roleRef RoleRef?*
ClusterRoleBinding kind
	1 metadata meta.ObjectMeta; 2 subjects Subject[]; 3 roleRef RoleRef?*
Subject atomic
	1 kind string?*; 2 apiGroup string; 3 name string?*; 4 namespace string
RoleRef atomic
	1 apiGroup string?*; 2 kind string?*; 3 name string?*
`;
