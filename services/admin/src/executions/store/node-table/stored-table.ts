import type { Queryable } from "@flyte-ts/postgres";
import { parseSnapshot, type Snapshot } from "../watch/snapshot.js";

/** Layout of stored pages. A build with another layout needs another number. */
export const STORED_FORMAT = 1;

/** The node table of an execution as it was in a snapshot. */
export interface StoredTable {
  /** Rows that were written after it are missing. */
  readonly snapshot: Snapshot;
  readonly pages: Uint8Array;
}

const SERVER = "(SELECT system_identifier FROM pg_control_system())";

/**
 * Reads the stored table of an execution; undefined without one that this build and this server can
 * read. After a dump has been restored, transactions have other numbers than in its snapshot.
 */
export async function readStoredTable(db: Queryable, executionId: bigint): Promise<StoredTable | undefined> {
  const { rows } = await db.query<{ snapshot: string; pages: Uint8Array }>({
    name: "read-stored-node-table",
    text: `SELECT snapshot::text AS snapshot, pages FROM execution_node_tables
      WHERE execution_id = $1 AND format = ${STORED_FORMAT} AND system_identifier = ${SERVER}`,
    values: [executionId],
  });
  const snapshot = parseSnapshot(rows[0]?.snapshot ?? "");
  return rows[0] && snapshot && { snapshot, pages: rows[0].pages };
}

/**
 * Stores the table of an execution, unless it has been deleted or a newer build has stored it.
 * Which of two replicas writes last does not matter: readers of either read what was written after
 * its snapshot.
 */
export async function saveStoredTable(db: Queryable, executionId: bigint, { snapshot, pages }: StoredTable): Promise<void> {
  await db.query({
    name: "save-stored-node-table",
    text: `INSERT INTO execution_node_tables AS stored (execution_id, format, system_identifier, snapshot, pages)
      SELECT id, ${STORED_FORMAT}, ${SERVER}, $2::pg_snapshot, $3::bytea FROM executions WHERE id = $1
      ON CONFLICT (execution_id) DO UPDATE SET format = EXCLUDED.format, system_identifier = EXCLUDED.system_identifier,
        snapshot = EXCLUDED.snapshot, pages = EXCLUDED.pages WHERE stored.format <= EXCLUDED.format`,
    values: [executionId, snapshot.text, pages],
  });
}

export async function deleteStoredTable(db: Queryable, executionId: bigint): Promise<void> {
  await db.query({
    name: "delete-stored-node-table",
    text: "DELETE FROM execution_node_tables WHERE execution_id = $1",
    values: [executionId],
  });
}
