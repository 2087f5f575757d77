import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Labels, LabelsSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { Project, Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { baseColumns, type ListEntity, type ListPlan, selectPage } from "../../platform/index.js";
import { insertStatement } from "./entity-columns.js";
import type { RowOf } from "./entity-columns.js";
import type { StoredColumn } from "./entity-columns.js";
import { storedNames } from "./entity-columns.js";
import { updateStatement } from "./entity-columns.js";

/** Columns of a project: rows, filters, sort keys, inserts and updates follow from them. */
const columns = {
  ...baseColumns,
  identifier: { type: "text", value: ({ id }) => id },
  name: { type: "text", value: ({ name }) => name, update: "if-given" },
  description: { type: "text", value: ({ description }) => description, update: "if-given" },
  labels: { type: "bytes", value: labelBytes, update: "if-given" },
  state: { type: "int4", value: ({ state }) => state, update: "replace" },
} as const satisfies Record<string, StoredColumn<Project>>;

type ProjectRow = RowOf<typeof columns>;

/** A stored project: its columns, with decoded labels. */
export interface StoredProject extends Omit<ProjectRow, "labels" | "state"> {
  readonly labels?: Labels;
  readonly state: Project_ProjectState;
}

/** A project with data for the creation of entities and executions in it. */
export interface FoundProject extends StoredProject {
  /** True when the project, or any scope in it, has attributes. */
  readonly hasAttributes: boolean;
}

/** Filters and sort keys of ListProjects. */
export const projectEntity: ListEntity = { prefix: "project", table: "projects", key: "identifier", columns, related: {} };

/** Lists all kinds, so that PostgreSQL uses the index. */
const KINDS = Object.values(MatchableResource).filter((kind) => typeof kind === "number");

/** Finds a project in any state; undefined when it is not registered. */
export async function findProject(db: Queryable, identifier: string): Promise<FoundProject | undefined> {
  if (identifier.includes("\0")) return undefined;
  const { rows } = await db.query<ProjectRow & { has_attributes: boolean }>({
    name: "find-project",
    text: `SELECT ${storedNames(columns)},
        EXISTS (SELECT FROM matchable_attributes WHERE kind = ANY($2::int[]) AND project = $1) AS has_attributes
      FROM projects WHERE identifier = $1`,
    values: [identifier, KINDS],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { has_attributes: hasAttributes, ...project } = row;
  return { ...storedProject(project), hasAttributes };
}

/** Stores a new project. Returns false when it exists. */
export async function insertProject(tx: Queryable, project: Project, now: Date): Promise<boolean> {
  return (await tx.query(insertStatement("projects", columns, project, now))).rowCount > 0;
}

/** Updates a project; keeps texts and labels that the message leaves empty. */
export async function updateProject(db: Queryable, project: Project, now: Date): Promise<void> {
  await db.query(updateStatement("projects", columns, { key: "identifier", message: project, now }));
}

export async function listProjects(db: Queryable, plan: ListPlan): Promise<readonly StoredProject[]> {
  const { rows } = await db.query<ProjectRow>(selectPage(plan, storedNames(columns)));
  return rows.map(storedProject);
}

/** Inserts projects that do not exist, named like their ids. */
export async function insertMissingProjects(db: Queryable, ids: readonly string[], now: Date): Promise<void> {
  await db.query({
    text: `INSERT INTO projects (identifier, name, description, created_at, updated_at)
      SELECT identifier, identifier, identifier || ' description', $2, $2 FROM unnest($1::text[]) AS identifier ON CONFLICT DO NOTHING`,
    values: [ids, now],
  });
}

function storedProject({ labels, ...row }: ProjectRow): StoredProject {
  return { ...row, ...(labels !== null && { labels: fromBinary(LabelsSchema, labels) }) };
}

function labelBytes({ labels }: Project): Uint8Array | null {
  return labels === undefined ? null : toBinary(LabelsSchema, create(LabelsSchema, labels));
}

/**
 * Returns the ids of all projects, and makes concurrent registrations wait until the transaction
 * ends.
 */
export async function lockProjects(tx: Queryable): Promise<readonly string[]> {
  await tx.query({ text: "SELECT pg_advisory_xact_lock(hashtext('projects'))" });
  const { rows } = await tx.query<{ identifier: string }>({ text: "SELECT identifier FROM projects ORDER BY identifier" });
  return rows.map(({ identifier }) => identifier);
}

/** Filters project ids to those that are registered, in any state. */
export async function existingProjects(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ identifier: string }>({
    text: "SELECT identifier FROM projects WHERE identifier = ANY($1)",
    values: [ids],
  });
  return new Set(rows.map(({ identifier }) => identifier));
}
