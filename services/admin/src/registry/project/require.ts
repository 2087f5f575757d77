import { create, fromBinary } from "@bufbuild/protobuf";
import { type Labels, LabelsSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { InactiveProjectSchema, Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { AdminConfig } from "../../config.js";
import { checkText } from "../../platform/identifiers.js";
import { invalidArgument } from "../../platform/rpc-errors.js";

export interface StoredProject {
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly labels: Labels | undefined;
  readonly state: Project_ProjectState;
}

/** A project with data for the creation of entities and executions in it. */
export interface FoundProject extends StoredProject {
  /** True when the project, or any scope in it, has attributes. */
  readonly hasAttributes: boolean;
}

export interface ProjectRow {
  identifier: string;
  name: string;
  description: string;
  labels: Uint8Array | null;
  state: Project_ProjectState;
}

/** Lists all kinds, so that PostgreSQL uses the index. */
const KINDS = Object.values(MatchableResource).filter((kind) => typeof kind === "number");

/** Finds a project in any state; undefined when it is not registered. */
export async function findProject(db: Queryable, identifier: string): Promise<FoundProject | undefined> {
  if (identifier.includes("\0")) return undefined;
  const { rows } = await db.query<ProjectRow & { has_attributes: boolean }>({
    name: "find-project",
    text: `SELECT identifier, name, description, labels, state,
        EXISTS (SELECT FROM matchable_attributes WHERE kind = ANY($2::int[]) AND project = $1) AS has_attributes
      FROM projects WHERE identifier = $1`,
    values: [identifier, KINDS],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { has_attributes: hasAttributes, ...project } = row;
  return { ...storedProject(project), hasAttributes };
}

export function storedProject(row: ProjectRow): StoredProject {
  return { ...row, labels: row.labels === null ? undefined : fromBinary(LabelsSchema, row.labels) };
}

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
 * Finds a project that must be registered and active, and checks that the domain is configured: the precondition of
 * every creation.
 *
 * @throws RpcError INVALID_ARGUMENT; for a project that is not active with detail InactiveProject.
 */
export async function requireActiveProject(
  { db, config }: { readonly db: Queryable; readonly config: Pick<AdminConfig, "domains"> },
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
