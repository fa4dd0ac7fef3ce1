/** Messages of the groups authentication.k8s.io and authorization.k8s.io. For the notation see `../notation.ts`. */

export const AUTHENTICATION = `
SelfSubjectReview kind
	1 metadata meta.ObjectMeta; 2 status SelfSubjectReviewStatus
SelfSubjectReviewStatus
	1 userInfo UserInfo
UserInfo
	1 username string; 2 uid string; 3 groups string[]; 4 extra map<Strings>
TokenRequest kind
	1 metadata meta.ObjectMeta; 2 spec TokenRequestSpec?*; 3 status TokenRequestStatus
TokenRequestSpec
	1 audiences string[]*; 3 boundObjectRef BoundObjectReference?; 4 expirationSeconds int64?
BoundObjectReference
	1 kind string; 2 apiVersion string; 3 name string; 4 uid string
TokenRequestStatus
	1 token string?*; 2 expirationTimestamp Time?*
TokenReview kind
	1 metadata meta.ObjectMeta; 2 spec TokenReviewSpec?*; 3 status TokenReviewStatus
TokenReviewSpec
	1 token string; 2 audiences string[]
TokenReviewStatus
	1 authenticated bool; 2 user UserInfo; 3 error string; 4 audiences string[]
`;

export const AUTHORIZATION = `
LocalSubjectAccessReview kind
	1 metadata meta.ObjectMeta; 2 spec SubjectAccessReviewSpec?*; 3 status SubjectAccessReviewStatus
SubjectAccessReviewSpec
	1 resourceAttributes ResourceAttributes?; 2 nonResourceAttributes NonResourceAttributes?; 3 user string;
	4 groups string[]; 5 extra map<Strings>; 6 uid string
ResourceAttributes
	1 namespace string; 2 verb string; 3 group string; 4 version string; 5 resource string; 6 subresource string;
	7 name string; 8 fieldSelector FieldSelectorAttributes?; 9 labelSelector LabelSelectorAttributes?
FieldSelectorAttributes
	1 rawSelector string; 2 requirements meta.FieldSelectorRequirement[]
LabelSelectorAttributes
	1 rawSelector string; 2 requirements meta.LabelSelectorRequirement[]
NonResourceAttributes
	1 path string; 2 verb string
SubjectAccessReviewStatus
	1 allowed bool?*; 2 reason string; 3 evaluationError string; 4 denied bool
SubjectAccessReview kind
	1 metadata meta.ObjectMeta; 2 spec SubjectAccessReviewSpec?*; 3 status SubjectAccessReviewStatus
SelfSubjectRulesReview kind
	1 metadata meta.ObjectMeta; 2 spec SelfSubjectRulesReviewSpec?*; 3 status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec
	1 namespace string
SubjectRulesReviewStatus
	1 resourceRules ResourceRule[]*; 2 nonResourceRules NonResourceRule[]*; 3 incomplete bool?*;
	4 evaluationError string
ResourceRule
	1 verbs string[]*; 2 apiGroups string[]; 3 resources string[]; 4 resourceNames string[]
NonResourceRule
	1 verbs string[]*; 2 nonResourceURLs string[]
SelfSubjectAccessReview kind
	1 metadata meta.ObjectMeta; 2 spec SelfSubjectAccessReviewSpec?*; 3 status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec
	1 resourceAttributes ResourceAttributes?; 2 nonResourceAttributes NonResourceAttributes?
`;
