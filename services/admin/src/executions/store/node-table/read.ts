import type { Database, Queryable } from "@flyte-ts/postgres";
import { encodeExecution } from "../../execution/row.js";
import { type ExecutionName, watchedExecutionNotFound } from "../../model/identifier.js";
import { executionColumns, type ExecutionRow } from "../execution/find.js";
import { changed, inSnapshot, snapshotXmax } from "../watch/changed-rows.js";
import { type ChangesOfAll, endedAt, type KnownState } from "../watch/known-state.js";
import type { Snapshot } from "../watch/snapshot.js";
import { readStoredTable } from "./stored-table.js";
import { type NodePage, nodeValues, pageColumns, type PageRow, readColumns, readPage, runsSomething } from "./node-page.js";

/** Nodes per statement and message: the first rows appear before the last are read. */
export const PAGE = 4_096;
/** Nodes of the first page: more than a screen shows, and few bytes. */
export const FIRST_PAGE = 256;

/** The execution of a node table. */
export interface TableExecution {
  /** Encoded flyteidl.admin.Execution. */
  readonly bytes: Uint8Array;
  /** Milliseconds since the epoch; undefined before the end. */
  readonly endedAt: number | undefined;
}

export interface NodeTableChanges {
  /** Set when the row of the execution has changed. */
  readonly execution: TableExecution | undefined;
  readonly nodes: NodePage | undefined;
}

export interface OpenedTable extends TableExecution {
  readonly executionId: bigint;
  readonly snapshot: Snapshot;
  /** Stored pages with the rows of the snapshot, which are not read again. */
  readonly storedPages: Uint8Array | undefined;
}

/**
 * Reads an execution and its nodes in one snapshot. Calls `onOpen` first, then `onPage` for each
 * page of nodes in the order of their creation. Reads no nodes of an ended execution whose table is
 * stored: `onOpen` gets its pages and their earlier snapshot.
 *
 * @throws RpcError NOT_FOUND.
 */
export function readNodeTable(
  db: Database,
  name: ExecutionName,
  { onOpen, onPage }: { readonly onOpen: (table: OpenedTable) => void; readonly onPage: (page: NodePage) => void },
): Promise<void> {
  return inSnapshot(db, async (tx, snapshot) => {
    const execution = await findTableExecution(tx, name);
    const opened = { executionId: execution.id, snapshot, storedPages: undefined, ...tableExecution(execution) };
    const stored = opened.endedAt === undefined ? undefined : await readStoredTable(tx, execution.id);
    if (stored !== undefined) return onOpen({ ...opened, snapshot: stored.snapshot, storedPages: stored.pages });
    onOpen(opened);
    await tx.query({ text: "SET LOCAL enable_nestloop = off" });
    for await (const page of pages(tx, execution.id)) onPage(page);
  });
}

async function findTableExecution(db: Queryable, name: ExecutionName): Promise<ExecutionRow> {
  const { rows } = await db.query<ExecutionRow>({
    name: "node-table-execution",
    text: `SELECT ${executionColumns} FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [name.project, name.domain, name.name],
  });
  if (rows[0] === undefined) throw watchedExecutionNotFound(name);
  return rows[0];
}

/**
 * Reads the execution of a table.
 *
 * @throws RpcError NOT_FOUND.
 */
export async function readTableExecution(db: Queryable, name: ExecutionName): Promise<TableExecution> {
  return tableExecution(await findTableExecution(db, name));
}

/**
 * Page after a position, with one lookup for each distinct parent, and one scan of the index for
 * the attempts of all nodes. Parents and attempts are joined by hash or merge: their tables have no
 * statistics, and a nested loop over them takes the square of a page.
 */
const PAGE_TEXT = `WITH page AS MATERIALIZED (
    SELECT ${readColumns} FROM node_executions WHERE execution_id = $1 AND (created_at, id) > ($2::timestamptz, $3::bigint)
      AND ${runsSomething("node_executions")}
    ORDER BY created_at, id LIMIT $4),
  parents AS MATERIALIZED (
    SELECT named.node_id, (SELECT p.id FROM node_executions p WHERE p.execution_id = $1 AND p.node_id = named.node_id) AS id
    FROM (SELECT DISTINCT parent_node_id AS node_id FROM page WHERE parent_node_id IS NOT NULL) AS named),
  attempts AS MATERIALIZED (
    SELECT node_id, count(*) AS attempts, min(name) AS name FROM task_executions
    WHERE execution_id = $1 AND node_id = ANY (ARRAY(SELECT node_id FROM page)) GROUP BY node_id)
  SELECT ${pageColumns}, max(created_at)::text AS last FROM (
    SELECT ${nodeValues("(SELECT accepted_ns FROM executions WHERE id = $1)")}, n.created_at FROM page n
    LEFT JOIN parents parent ON parent.node_id = n.parent_node_id LEFT JOIN attempts t ON t.node_id = n.node_id
    ORDER BY n.created_at, n.id) AS nodes`;

/** Yields pages; PostgreSQL makes one while the caller processes the one before. */
async function* pages(tx: Queryable, executionId: bigint): AsyncGenerator<NodePage> {
  const pageAfter = async (createdAt: string, key: number, limit: number): Promise<PageRow & { readonly last: string | null }> => {
    const { rows } = await tx.query<PageRow & { last: string | null }>({
      name: "node-table-page",
      text: PAGE_TEXT,
      values: [executionId, createdAt, key, limit],
    });
    if (rows[0] === undefined) throw new Error("an aggregate returned no row");
    return rows[0];
  };
  let limit = FIRST_PAGE;
  for (let next = pageAfter("-infinity", 0, limit); ; ) {
    const row = await next;
    if (row.last === null) return;
    const page = readPage(row);
    const isLast = page.length < limit;
    limit = PAGE;
    if (!isLast) next = pageAfter(row.last, page.key[page.length - 1] ?? 0, limit);
    yield page;
    if (isLast) return;
  }
}

/** Reads the changes of these executions since their snapshots, with two statements for all. */
export function readTableChanges(db: Database, all: readonly KnownState[]): Promise<ChangesOfAll<NodeTableChanges>> {
  const given = "unnest($1::bigint[], $2::pg_snapshot[], $3::bigint[]) AS given (execution_id, since, since_xmin)";
  const values = [
    all.map(({ executionId }) => executionId),
    all.map(({ snapshot }) => snapshot.text),
    all.map(({ snapshot }) => snapshot.xmin),
  ];
  return inSnapshot(db, async (tx, snapshot) => {
    const { rows: executions } = await tx.query<ExecutionRow & { changed: boolean }>({
      name: "node-table-changed-executions",
      text: `SELECT ${executionColumns}, ${changed("executions")} AS changed
        FROM ${snapshotXmax}, ${given} JOIN executions ON executions.id = given.execution_id`,
      values,
    });
    const { rows: pagesOfChanges } = await tx.query<PageRow & { execution_id: bigint }>({
      name: "node-table-changed-nodes",
      text: `SELECT execution_id, ${pageColumns} FROM (
          SELECT n.execution_id, ${nodeValues("e.accepted_ns")} FROM (
            SELECT node_executions.execution_id, node_executions.id FROM ${snapshotXmax}, ${given}
              JOIN node_executions ON node_executions.execution_id = given.execution_id WHERE ${changed("node_executions")}
            UNION
            SELECT node_executions.execution_id, node_executions.id FROM ${snapshotXmax}, ${given}
              JOIN task_executions ON task_executions.execution_id = given.execution_id
              JOIN node_executions ON node_executions.execution_id = task_executions.execution_id
                AND node_executions.node_id = task_executions.node_id WHERE ${changed("task_executions")}
          ) AS touched JOIN node_executions n ON n.id = touched.id AND ${runsSomething("n")}
          JOIN executions e ON e.id = n.execution_id
          LEFT JOIN node_executions parent ON parent.execution_id = n.execution_id AND parent.node_id = n.parent_node_id
          LEFT JOIN LATERAL (SELECT count(*) AS attempts, min(name) AS name FROM task_executions
            WHERE task_executions.execution_id = n.execution_id AND task_executions.node_id = n.node_id) t ON true
          ORDER BY n.execution_id, n.created_at, n.id) AS nodes
        GROUP BY execution_id`,
      values,
    });
    const nodes = new Map(pagesOfChanges.map((row) => [row.execution_id, readPage(row)]));
    const changes = new Map<bigint, NodeTableChanges | "gone">(all.map(({ executionId }) => [executionId, "gone"]));
    for (const row of executions) {
      changes.set(row.id, { execution: row.changed ? tableExecution(row) : undefined, nodes: nodes.get(row.id) });
    }
    return { snapshot, changes };
  });
}

function tableExecution(row: ExecutionRow): TableExecution {
  return { bytes: encodeExecution(row), endedAt: endedAt(row) };
}
