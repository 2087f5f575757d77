import { includesRole, type Role } from "./role.js";

/** Stands for every project, or every domain of a project. */
export const ALL = "*";

/** A role that a subject, or everyone in a group, has in a project and domain. */
export interface RoleBinding {
  readonly kind: "subject" | "group";
  /** The subject or the group. */
  readonly name: string;
  /** Issuer whose tokens name it so. A name that another issuer gives out is somebody else. */
  readonly issuer: string;
  readonly role: Role;
  /** A project's id, or {@link ALL}. */
  readonly project: string;
  /** A domain's id, or {@link ALL}. */
  readonly domain: string;
}

/** Where a role is needed. */
export type Scope =
  /** In one project; without `domain` in all of its domains. An empty text is no project. */
  | { readonly kind: "project"; readonly project: string; readonly domain?: string }
  /** In the project, whichever domain. */
  | { readonly kind: "some-domain"; readonly project: string }
  /** In all projects and domains. */
  | { readonly kind: "everywhere" }
  /** Wherever it may be. */
  | { readonly kind: "anywhere" };

export interface Need {
  readonly role: Role;
  readonly scope: Scope;
}

/** Of whom bindings may speak. */
export interface Holder {
  readonly issuer: string;
  readonly subject: string;
  readonly groups: readonly string[];
}

/** The bindings that speak of one caller. */
export function bindingsOf(bindings: Iterable<RoleBinding>, who: Holder): RoleBinding[] {
  const groups = new Set(who.groups);
  return Array.from(bindings).filter(
    ({ kind, name, issuer }) => issuer === who.issuer && (kind === "subject" ? name === who.subject : groups.has(name)),
  );
}

/** Whether one of a caller's bindings gives what is needed. Nothing given is nothing allowed. */
export function isGranted(held: readonly RoleBinding[], { role, scope }: Need): boolean {
  return held.some((binding) => includesRole(binding.role, role) && covers(binding, scope));
}

function covers({ project, domain }: RoleBinding, scope: Scope): boolean {
  // A request that says "*" names a project of that name, not all of them; an empty name is no project at all.
  const named = (held: string, asked: string | undefined): boolean =>
    held === ALL || (asked !== undefined && asked !== "" && asked !== ALL && held === asked);
  switch (scope.kind) {
    case "project":
      return named(project, scope.project) && named(domain, scope.domain);
    case "some-domain":
      return named(project, scope.project);
    case "everywhere":
      return project === ALL && domain === ALL;
    case "anywhere":
      return true;
  }
}

/** What is needed, as a sentence for the caller. */
export function needText({ role, scope }: Need): string {
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
