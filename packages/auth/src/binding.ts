import { includesRole, type Role } from "./role.js";

/** Matches every project, or every domain of a project. */
export const WILDCARD = "*";

/** Grants a role in a project and domain to a subject, or to the members of a group. */
export interface RoleBinding {
  readonly kind: "subject" | "group";
  /** The subject or the group. */
  readonly name: string;
  /**
   * Issuer of the tokens that carry this name. The same name from another issuer is a different
   * caller.
   */
  readonly issuer: string;
  readonly role: Role;
  /** A project's id, or {@link WILDCARD}. */
  readonly project: string;
  /** A domain's id, or {@link WILDCARD}. */
  readonly domain: string;
}

/** Projects and domains in which a role is needed. */
export type Scope =
  /** One project; without `domain` all of its domains. An empty text is no project. */
  | { readonly kind: "project"; readonly project: string; readonly domain?: string }
  /** At least one domain of the project. */
  | { readonly kind: "some-domain"; readonly project: string }
  /** In all projects and domains. */
  | { readonly kind: "everywhere" }
  /** At least one project and domain. */
  | { readonly kind: "anywhere" };

export interface Permission {
  readonly role: Role;
  readonly scope: Scope;
}

/** Callers that bindings can name: a subject or a group. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly groups: readonly string[];
}

/** Selects the bindings that apply to a caller. */
export function bindingsFor(bindings: Iterable<RoleBinding>, principal: Principal): RoleBinding[] {
  const groups = new Set(principal.groups);
  return Array.from(bindings).filter(
    ({ kind, name, issuer }) => issuer === principal.issuer && (kind === "subject" ? name === principal.subject : groups.has(name)),
  );
}

/** True when one of a caller's bindings grants what is needed. Default deny. */
export function isGranted(held: readonly RoleBinding[], { role, scope }: Permission): boolean {
  return held.some((binding) => includesRole(binding.role, role) && covers(binding, scope));
}

function covers({ project, domain }: RoleBinding, scope: Scope): boolean {
  // A request that says "*" names a project of that name, not all of them; an empty name is no
  // project at all.
  const named = (held: string, asked: string | undefined): boolean =>
    held === WILDCARD || (asked !== undefined && asked !== "" && asked !== WILDCARD && held === asked);
  switch (scope.kind) {
    case "project":
      return named(project, scope.project) && named(domain, scope.domain);
    case "some-domain":
      return named(project, scope.project);
    case "everywhere":
      return project === WILDCARD && domain === WILDCARD;
    case "anywhere":
      return true;
  }
}

/** Describes what is needed, as a sentence for the caller. */
export function describePermission({ role, scope }: Permission): string {
  switch (scope.kind) {
    case "project": {
      const { project, domain = "" } = scope;
      if (project === "") return `role ${role} is needed in all projects, for the request names none`;
      if (domain === "") return `role ${role} is needed in all domains of project ${JSON.stringify(project)}`;
      return `role ${role} is needed in project ${JSON.stringify(project)}, domain ${JSON.stringify(domain)}`;
    }
    case "some-domain":
      return `role ${role} is needed in project ${JSON.stringify(scope.project)}`;
    case "everywhere":
      return `role ${role} is needed in all projects`;
    case "anywhere":
      return `role ${role} is needed in some project`;
  }
}
