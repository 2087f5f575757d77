import type { Scope } from "@flyte-ts/auth";

interface Named {
  readonly project: string;
  readonly domain: string;
}

/**
 * Scope of the project and domain of an identifier. A missing or empty part matches no name, so it
 * needs a role in all of them.
 */
export function projectScope(id: Named | undefined): Scope {
  return { kind: "project", project: id?.project ?? "", domain: id?.domain ?? "" };
}

/** Scope of a project with all its domains. */
export function wholeProject(project: string | undefined): Scope {
  return { kind: "project", project: project ?? "" };
}

export const allProjects: Scope = { kind: "everywhere" };
export const anyProject: Scope = { kind: "anywhere" };
