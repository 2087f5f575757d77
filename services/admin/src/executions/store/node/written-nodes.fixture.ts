import type { Queryable } from "@flyte-ts/postgres";

/** Values of a node's row by column; the others have defaults. */
export interface NodeValues {
  readonly node_id: string;
  readonly [column: string]: unknown;
}

/** Inserts or replaces the row of a node, as ingest does. */
export async function writeNode(db: Queryable, executionId: bigint, { node_id: nodeId, ...values }: NodeValues): Promise<void> {
  const columns: Record<string, unknown> = { phase: "QUEUED", first_ns: 0n, spec_node_id: nodeId, updated_ns: 0n, ...values };
  const names = Object.keys(columns);
  await db.query({
    text: `INSERT INTO node_executions (execution_id, node_id, revision, phase_order, first_order, started_order, target_order,
        ${names.join(", ")})
      VALUES ($1, $2, 1, 0, 0, 0, 0, ${names.map((_, index) => `$${index + 3}`).join(", ")})
      ON CONFLICT (execution_id, node_id) DO UPDATE SET ${names.map((column) => `${column} = EXCLUDED.${column}`).join(", ")}`,
    values: [executionId, nodeId, ...Object.values(columns)],
  });
}
