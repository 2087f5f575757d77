import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledTask, CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";

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
