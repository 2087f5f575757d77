import type { Manifest } from "../manifests.js";

/** One verb on one resource that a rule of a Role or ClusterRole grants an account. */
export interface Permission {
  /** Name of the service account. */
  readonly account: string;
  readonly verb: string;
  /** `group/resource` or `resource`, with `/subresource`. */
  readonly resource: string;
}

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string }[];
}

/** Lists the permissions that the roles and bindings among the objects grant. */
export function grantedPermissions(objects: readonly Manifest[]): readonly Permission[] {
  return objects.flatMap((object) => {
    if (object.kind !== "RoleBinding" && object.kind !== "ClusterRoleBinding") return [];
    const { roleRef, subjects } = object as unknown as Binding;
    const role = objects.find(({ kind, metadata }) => kind === roleRef.kind && metadata.name === roleRef.name);
    if (role === undefined) throw new Error(`${object.metadata.name} binds ${roleRef.name}, which is not there`);
    return subjects.flatMap(({ name }) => rulePermissions(name, role["rules"] as readonly PolicyRule[]));
  });
}

function rulePermissions(account: string, rules: readonly PolicyRule[]): Permission[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => ({ account, verb, resource: group === "" ? resource : `${group}/${resource}` }))),
    ),
  );
}
