import { createPool, type Database, type Queryable } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";

/** Row counts of a filled database. */
export interface Fill {
  readonly executions: number;
  /** Nodes of all executions; a third of them have one task attempt. */
  readonly nodes: number;
  /** Versions of workflows; equal numbers of launch plans and tasks. */
  readonly versions: number;
}

/** Project and domain of nine in ten executions. */
export const BUSY = { project: "busy", domain: "development" } as const;

/** Versions per name. */
const VERSIONS = 10;

/** Tables that grow with executions. */
export const BIG_TABLES = ["execution_tags", "executions", "node_executions", "task_executions"] as const;

const versionColumns = "project, domain, name, version, digest, closure, created_at, updated_at";
const at = "now() - r * interval '37 seconds'";
/**
 * Names contain words and the number of their workflow, so that parts of names have realistic
 * frequencies.
 */
const nameOf = (number: string) => `'app.' || (ARRAY['train','score','load','clean','report'])[1 + ${number} % 5] || '.w' || ${number}`;
const versionValues = `CASE WHEN i % 10 < 9 THEN 'busy' ELSE 'calm' || i % 3 END, 'development', ${nameOf("i")},
  'v' || v || '-' || i % 50, '', '\\x00', ${at}, ${at}`;
const versions = (fill: Fill) => `(SELECT i, v, i * ${VERSIONS} + v AS r FROM generate_series(1, ${fill.versions / VERSIONS}) AS i,
  generate_series(1, ${VERSIONS}) AS v ORDER BY v, i) AS r`;

/** Deterministic pseudo-random number from 0 to 1 per row and use. */
const chance = (use: number) => `((hashint8(i * 64 + ${use})::bigint & 1048575) / 1048576.0)`;
/** Skewed distribution: few values are frequent, many are rare. */
const skewed = (use: number, count: number) => `(${count} * power(${chance(use)}, 4))::int`;

/** One execution per minute up to now, the newest non-terminal; rare kinds are spread evenly. */
const executions = ({
  executions: rows,
  versions: count,
}: Fill) => `INSERT INTO executions (execution_project, execution_domain, execution_name,
    created_at, updated_at, launch_plan_id, launch_plan_name, workflow_id, workflow_name, task_id, launch_entity, mode, principal, cluster,
    source_execution_id, parent_execution_id, parent_node_id, spec, closure, inputs_uri, launch, state, state_changed_ns, phase, started_ns,
    accepted_ns, updated_ns, ended_ns, duration, result, error_kind, error_code, abort_cause, settled_at)
  SELECT CASE WHEN i % 10 < 9 THEN 'busy' ELSE 'calm' || i % 3 END, CASE WHEN i % 100 = 99 THEN 'staging' ELSE 'development' END,
    'a' || substr(md5(i::text), 1, 19), at, at + took * interval '1 second', w + 1, ${nameOf(`(w % (${count} / ${VERSIONS}) + 1)`)}, w + 1,
    ${nameOf(`(w % (${count} / ${VERSIONS}) + 1)`)}, CASE WHEN i % 50 = 0 THEN w + 1 END, CASE WHEN i % 50 = 0 THEN 'task' ELSE 'launch_plan' END,
    (ARRAY[1,1,1,1,1,0,0,4,3,5,2])[1 + ${skewed(1, 10)}], 'user' || u || '@example.org', (ARRAY['', '', 'east', 'west', 'gpu'])[1 + ${skewed(2, 4)}],
    CASE WHEN i % 97 = 5 THEN i - 4 END, CASE WHEN i % 23 = 5 THEN i - 3 END, CASE WHEN i % 23 = 5 THEN 'n0' END, spec, '\\x', 's3://b/' || i, '{}',
    (${chance(3)} < 0.02)::int, 1, p, CASE WHEN p <> 'QUEUED' THEN ns + 1000000000 END, ns, ns + (took * 1e9)::bigint,
    CASE WHEN open THEN NULL ELSE ns + (took * 1e9)::bigint END, CASE WHEN open THEN 0 ELSE (took * 1e9)::bigint END,
    CASE p WHEN 'SUCCEEDED' THEN 'outputs' WHEN 'FAILED' THEN 'error' WHEN 'ABORTED' THEN 'abort' END,
    CASE WHEN p = 'FAILED' THEN CASE WHEN ${chance(4)} < 0.9 THEN 'USER' ELSE 'SYSTEM' END END,
    CASE WHEN p = 'FAILED' THEN 'USER:Code' || ${skewed(5, 40)} END, CASE WHEN p = 'ABORTED' THEN 'not needed: ' || i % 1000 ELSE '' END, now()
  FROM (SELECT *, p IN ('RUNNING', 'QUEUED', 'FAILING') AS open FROM (SELECT i::bigint, now() - (${rows} - i) * interval '1 minute' AS at,
      (extract(epoch FROM now()) - (${rows} - i) * 60)::bigint * 1000000000 AS ns,
      round(exp(${chance(6)} * 11)::numeric, 3) AS took, ${skewed(7, 300)} AS u, least(${skewed(8, count)}, ${count} - 1) AS w,
      decode(repeat(md5(i::text), 16), 'hex') AS spec,
      CASE WHEN i > ${rows} - 500 THEN (ARRAY['RUNNING', 'QUEUED'])[1 + i % 2] WHEN ${chance(9)} < 0.00002 THEN 'RUNNING'
        WHEN ${chance(9)} < 0.0001 THEN 'FAILING' WHEN ${chance(9)} < 0.12 THEN 'FAILED' WHEN ${chance(9)} < 0.15 THEN 'ABORTED'
        ELSE 'SUCCEEDED' END AS p
    FROM generate_series(1, ${rows}) AS i) AS drawn) AS e`;

/**
 * A tenth of the nodes belong to one execution: half at the top level, a quarter below a node, a
 * quarter below an attempt.
 */
const nodes = ({
  executions: rows,
  nodes: count,
}: Fill) => `INSERT INTO node_executions (execution_id, node_id, created_at, updated_at, revision,
    parent_node_id, parent_task_key, phase, phase_order, first_ns, first_order, started_ns, started_order, updated_ns, ended_ns, duration, input_uri,
    error_kind, error_code, cache_status, target_order)
  SELECT CASE WHEN i <= ${large(count)} THEN ${rows} / 2 ELSE 1 + i % ${rows} END, 'n' || i, at, at + interval '1 second', 1,
    CASE WHEN i <= ${large(count)} AND i % 4 = 2 THEN 'n1' END, CASE WHEN i <= ${large(count)} AND i % 4 = 3 THEN '${LARGE.taskKey}' END,
    CASE WHEN i % 50 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 1, ns, 1, ns, 1, ns + 1000000000, ns + 1000000000, i % 1000 * 1000000, 's3://b/' || i,
    CASE WHEN i % 50 = 0 THEN 'USER' END, CASE WHEN i % 50 = 0 THEN 'USER:Code' || i % 7 END, 'CACHE_DISABLED', 1
  FROM (SELECT i, now() - (${count} - i) * interval '12 seconds' AS at, (extract(epoch FROM now()) - (${count} - i) * 12)::bigint * 1000000000 AS ns
    FROM generate_series(1, ${count}) AS i) AS n`;

/** Nodes of the largest execution. */
const large = (nodes: number) => Math.min(20_000, nodes / 10);

/** A node and a task attempt with many children. */
export const LARGE = { parentNodeId: "n1", taskKey: "attempt" } as const;

const tasks = `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, created_at, updated_at, revision,
    phase, phase_version, phase_order, first_ns, first_order, started_ns, started_order, updated_ns, ended_ns, duration, input_uri)
  SELECT execution_id, node_id, 'busy', 'development', ${nameOf("(1 + id % 50)")}, 'v1-' || (1 + id % 50), 0, created_at, updated_at, 1, phase, 0, 1,
    first_ns, 1, started_ns, 1, updated_ns, ended_ns, duration, input_uri FROM node_executions WHERE id % 3 = 0`;

/** Statements in order of their dependencies. */
function statements(fill: Fill): readonly string[] {
  return [
    `INSERT INTO tasks (${versionColumns}, type) SELECT ${versionValues}, 'type' || i % 7 FROM ${versions(fill)}`,
    `INSERT INTO workflows (${versionColumns}, typed_interface) SELECT ${versionValues}, '' FROM ${versions(fill)}`,
    `INSERT INTO launch_plans (${versionColumns}, spec, workflow_id, state, schedule_type)
      SELECT ${versionValues}, '', (SELECT min(id) FROM workflows) + r - ${VERSIONS + 1}, (v = 10)::int,
      CASE WHEN i % 50 = 0 THEN 'CRON' WHEN i % 50 = 1 THEN 'RATE' ELSE 'NONE' END FROM ${versions(fill)}`,
    `INSERT INTO named_entities (resource_type, project, domain, name, state, created_at, updated_at)
      SELECT t, project, domain, name, (hashtext(name) % 30 = 0)::int, min(created_at), min(created_at)
      FROM workflows, generate_series(1, 3) AS t GROUP BY t, project, domain, name`,
    executions(fill),
    `INSERT INTO execution_tags (execution_id, key, value) SELECT id, 'team', 't' || id % 40 FROM executions WHERE id % 5 = 0
      UNION ALL SELECT id, 'run', 'r' || id / 10 FROM executions WHERE id % 20 = 0 UNION ALL SELECT id, 'nightly', '' FROM executions WHERE id % 500 = 0`,
    nodes(fill),
    tasks,
  ];
}

/**
 * Fills admin's tables for tests of lists if they are empty. Drops indexes before and creates them
 * afterwards, and makes the tables unlogged: the database must be deleted after the test.
 */
export async function fillLists(url: string, fill: Fill): Promise<void> {
  const logger = createLogger({ service: "test", level: "silent" });
  // A statement for millions of rows takes minutes.
  const db = createPool({ url, logger, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    const { rowCount } = await db.query({ text: "SELECT 1 FROM executions LIMIT 1" });
    if (rowCount === 0) await insertAll(db, fill);
    // A live database gets this from autovacuum: plans depend on the visibility map.
    for (const table of [...BIG_TABLES, "workflows", "launch_plans", "tasks", "named_entities"]) {
      await db.query({ text: `VACUUM (ANALYZE) ${table}` });
    }
  } finally {
    await db.close();
  }
}

async function insertAll(db: Database, fill: Fill): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query({ text: "SET LOCAL maintenance_work_mem = '512MB'" });
    // A table becomes unlogged after those that refer to it.
    const { rows: referring } = await tx.query<{ name: string }>({
      text: "SELECT DISTINCT conrelid::regclass::text AS name FROM pg_constraint WHERE contype = 'f' AND confrelid = 'executions'::regclass",
    });
    for (const table of new Set([...referring.map(({ name }) => name), ...BIG_TABLES])) {
      await tx.query({ text: `ALTER TABLE ${table} SET UNLOGGED` });
    }
    const indexes = await dropIndexes(tx);
    for (const text of statements(fill)) await tx.query({ text });
    for (const text of indexes) await tx.query({ text });
  });
}

/** Drops indexes without constraints; returns the statements that create them again. */
async function dropIndexes(tx: Queryable): Promise<readonly string[]> {
  const { rows } = await tx.query<{ name: string; definition: string }>({
    text: `SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indrelid = ANY($1::regclass[]) AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
    values: [BIG_TABLES],
  });
  for (const { name } of rows) await tx.query({ text: `DROP INDEX ${name}` });
  return rows.map(({ definition }) => definition);
}
