import { create } from "@bufbuild/protobuf";
import { InactiveProjectSchema, Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { RegistryConfig } from "../config.js";
import { checkText, invalidArgument } from "../../platform/index.js";
import { findProject, type FoundProject, type StoredProject } from "../store/projects.js";

/**
 * Finds a project that must be registered.
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export async function requireProject(db: Queryable, identifier: string): Promise<FoundProject> {
  checkText(identifier, "project");
  const project = await findProject(db, identifier);
  if (project === undefined) throw invalidArgument(`invalid value for project: project [${identifier}] is not registered`);
  return project;
}

/**
 * Finds a project that must be registered and active, and checks that the domain is configured: the
 * precondition of every creation.
 *
 * @throws RpcError INVALID_ARGUMENT; for a project that is not active with detail InactiveProject.
 */
export async function requireActiveProject(
  { db, config }: { readonly db: Queryable; readonly config: Pick<RegistryConfig, "domains"> },
  projectId: string,
  domain: string,
): Promise<FoundProject> {
  const project = await requireProject(db, projectId);
  requireActive(project);
  checkText(domain, "domain");
  if (!config.domains.some(({ id }) => id === domain)) throw invalidArgument(`domain [${domain}] is unrecognized by system`);
  return project;
}

/** @throws RpcError INVALID_ARGUMENT with detail InactiveProject. */
export function requireActive(project: StoredProject): void {
  if (project.state === Project_ProjectState.ACTIVE) return;
  // As in Flyte, the detail has only the id; its state is unset.
  const message = create(InactiveProjectSchema, { id: project.identifier });
  throw invalidArgument(`project [${project.identifier}] is not active`, [{ schema: InactiveProjectSchema, message }]);
}
