import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledTask, CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { type ListEntity, type ListPlan, selectPage, versionedColumns } from "../../platform/index.js";

export interface StoredTask {
  /** Row id; executions refer to it. */
  readonly rowId: bigint;
  readonly compiled: CompiledTask;
  readonly shortDescription: string;
  readonly digest: Uint8Array;
  readonly createdAt: Date;
}

interface Row {
  id: bigint;
  closure: Uint8Array;
  short_description: string;
  digest: Uint8Array;
  created_at: Date;
}

/** Finds one version of a task; undefined when it is not registered. */
export async function findTask(db: Queryable, id: Identifier): Promise<StoredTask | undefined> {
  const { rows } = await db.query<Row>({
    name: "find-task",
    text: `SELECT id, closure, short_description, digest, created_at FROM tasks
      WHERE project = $1 AND domain = $2 AND name = $3 AND version = $4`,
    values: [id.project, id.domain, id.name, id.version],
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    rowId: row.id,
    compiled: fromBinary(CompiledTaskSchema, row.closure),
    shortDescription: row.short_description,
    digest: row.digest,
    createdAt: row.created_at,
  };
}

export interface NewTask {
  readonly id: Identifier;
  readonly type: string;
  readonly shortDescription: string;
  /** Encoded core.CompiledTask. */
  readonly closure: Uint8Array;
  readonly digest: Uint8Array;
  readonly now: Date;
}

/** Stores a version of a task. Returns false when it exists. */
export async function insertTask(tx: Queryable, { id, type, shortDescription, closure, digest, now }: NewTask): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: "create-task",
    text: `INSERT INTO tasks (project, domain, name, version, type, short_description, closure, digest, created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT DO NOTHING`,
    values: [id.project, id.domain, id.name, id.version, type, shortDescription, closure, digest, now],
  });
  return rowCount > 0;
}

export interface ListedTask {
  project: string;
  domain: string;
  name: string;
  version: string;
  closure: Uint8Array;
  short_description: string;
  created_at: Date;
}

export async function listTasks(db: Queryable, plan: ListPlan): Promise<readonly ListedTask[]> {
  const columns = "project, domain, name, version, closure, short_description, created_at";
  return (await db.query<ListedTask>(selectPage(plan, columns))).rows;
}

/** Filters and sort keys of ListTasks. */
export const taskEntity: ListEntity = {
  prefix: "task",
  table: "tasks",
  key: "id",
  columns: {
    ...versionedColumns,
    // A version is immutable, so one index serves both times.
    updated_at: { type: "timestamp", sql: "tasks.created_at", order: ["created_at", "id"] },
    type: { type: "text" },
    short_description: { type: "text" },
    closure: { type: "bytes" },
    digest: { type: "bytes" },
  },
  related: {},
};
