import type { RoleBindingJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";

export const ROLES = ["viewer", "runner", "contributor", "admin", "engine"] as const;
export type RoleName = (typeof ROLES)[number];

/** Roles that each role includes, itself first. */
const INCLUDED: Readonly<Record<RoleName, readonly RoleName[]>> = {
  viewer: ["viewer"],
  runner: ["runner", "viewer"],
  contributor: ["contributor", "runner", "viewer"],
  admin: ["admin", "contributor", "runner", "viewer"],
  engine: ["engine", "runner", "viewer"],
};

/** Acts that a role permits, besides those of the roles that it includes. */
export const PERMISSIONS: Readonly<Record<RoleName, string>> = {
  viewer: "read, including inputs, outputs and logs",
  runner: "start, repeat, archive and abort executions, answer approvals, upload",
  contributor: "register tasks, workflows and launch plans, activate launch plans, make triggers",
  admin: "attributes, roles, retention and the audit log; in all projects also projects and data planes",
  engine: "report events and launch child executions; for services",
};

/** Person, or service, whose rights are asked for. */
export interface Holder {
  readonly subject: string;
  readonly groups: readonly string[];
}

/** A role that a holder has in some place, and the bindings that give it. */
export interface Right {
  readonly role: RoleName;
  readonly project: string;
  readonly domain: string;
  readonly reasons: readonly string[];
}

/**
 * Returns the rights of a holder: the roles by place, greatest first. A role that a greater one in
 * the same place or an enclosing one includes is left out.
 */
export function rightsOf(bindings: readonly RoleBindingJson[], holder: Holder): readonly Right[] {
  const rights = new Map<string, Right>();
  for (const binding of bindings) {
    const reason = reasonOf(binding, holder);
    const role = ROLES.find((each) => each === binding.role);
    if (reason === undefined || role === undefined) continue;
    const { project = "", domain = "" } = binding;
    const key = `${role} ${project} ${domain}`;
    rights.set(key, { role, project, domain, reasons: [...(rights.get(key)?.reasons ?? []), reason] });
  }
  const all = [...rights.values()];
  return all
    .filter((right) => !all.some((other) => other !== right && includes(other, right)))
    .sort((one, other) => ROLES.indexOf(other.role) - ROLES.indexOf(one.role));
}

function reasonOf({ subject, group }: RoleBindingJson, holder: Holder): string | undefined {
  if (subject !== undefined && subject !== "") return subject === holder.subject ? "given to the subject" : undefined;
  return group !== undefined && holder.groups.includes(group) ? `member of ${group}` : undefined;
}

function includes(one: Right, other: Right): boolean {
  const covers = (outer: string, inner: string): boolean => outer === "*" || outer === inner;
  return INCLUDED[one.role].includes(other.role) && covers(one.project, other.project) && covers(one.domain, other.domain);
}

/** Describes the place of a role: `flytesnacks / development`, `flytesnacks, all domains`. */
export function placeText({ project = "", domain = "" }: Pick<RoleBindingJson, "project" | "domain">): string {
  if (project === "*") return "all projects";
  return domain === "*" ? `${project}, all domains` : `${project} / ${domain}`;
}

/** Describes the holder of a role. */
export function holderText({ subject, group }: RoleBindingJson): string {
  return subject !== undefined && subject !== "" ? subject : (group ?? "");
}

export function isGroup({ subject, group }: RoleBindingJson): boolean {
  return (subject ?? "") === "" && (group ?? "") !== "";
}
