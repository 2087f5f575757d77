import { type JsonObject, isObject } from "../../object/model.js";

/** Answers access reviews: every authenticated caller has all permissions. */
export function answerReview(path: string, body: unknown): JsonObject | undefined {
  const given: JsonObject = isObject(body) ? body : {};
  switch (path) {
    case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
      return { ...given, kind: "SelfSubjectAccessReview", apiVersion: "authorization.k8s.io/v1", status: { allowed: true } };
    case "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews":
      return {
        ...given,
        kind: "SelfSubjectRulesReview",
        apiVersion: "authorization.k8s.io/v1",
        status: {
          incomplete: false,
          nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
          resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        },
      };
    case "/apis/authentication.k8s.io/v1/selfsubjectreviews":
      return {
        ...given,
        kind: "SelfSubjectReview",
        apiVersion: "authentication.k8s.io/v1",
        status: { userInfo: { username: "local", groups: ["system:masters", "system:authenticated"] } },
      };
    default:
      return undefined;
  }
}
