import { create, toBinary } from "@bufbuild/protobuf";
import { ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Database } from "@flyte-ts/postgres";

/** Name prefix of the inserted executions, followed by their number from 1. */
export const SEEDED_PREFIX = "filled-";

/** Rows per statement. */
const BATCH = 20_000;

/**
 * Inserts ended executions, one per second up to now, as copies of a real one with other names and
 * times. One in ten failed, one in fifty was aborted. All are settled, so that admin does not
 * process them.
 */
const INSERT_EXECUTIONS = `INSERT INTO executions (execution_project, execution_domain, execution_name, created_at, updated_at, revision,
    launch_plan_id, launch_plan_name, workflow_id, workflow_name, launch_entity, mode, principal, cluster, spec, inputs, user_inputs,
    inputs_uri, user_inputs_uri, closure, launch, state, state_changed_ns, phase, phase_order, started_ns, started_order, accepted_ns,
    updated_ns, ended_ns, duration, result, result_order, output_uri, outputs, error, error_kind, error_code, abort_cause, checked_at,
    settled_at)
  SELECT one.execution_project, one.execution_domain, $1::text || i, at, at + interval '1 second', one.revision,
    one.launch_plan_id, one.launch_plan_name, one.workflow_id, one.workflow_name, one.launch_entity, i % 3, 'user' || i % 20, one.cluster,
    one.spec, one.inputs, one.user_inputs, one.inputs_uri, one.user_inputs_uri, one.closure, one.launch, (i % 100 = 1)::int, ns, made.phase,
    one.phase_order, ns + 200000000, one.started_order, ns, ns + 1000000000 + i % 1000 * 1000000, ns + 1000000000 + i % 1000 * 1000000,
    800000000 + i % 1000 * 1000000, CASE made.phase WHEN 'SUCCEEDED' THEN 'outputs' WHEN 'FAILED' THEN 'error' ELSE 'abort' END,
    one.result_order, CASE made.phase WHEN 'SUCCEEDED' THEN one.output_uri ELSE '' END, CASE made.phase WHEN 'SUCCEEDED' THEN one.outputs END,
    CASE made.phase WHEN 'FAILED' THEN $4::bytea END, CASE made.phase WHEN 'FAILED' THEN 'USER' END,
    CASE made.phase WHEN 'FAILED' THEN 'USER:ValueError' END, CASE made.phase WHEN 'ABORTED' THEN 'not needed any more' ELSE '' END, now(), now()
  FROM (SELECT i, CASE WHEN i % 10 = 3 THEN 'FAILED' WHEN i % 50 = 7 THEN 'ABORTED' ELSE 'SUCCEEDED' END AS phase,
      now() - ($3::bigint - i + 60) * interval '1 second' AS at,
      ((extract(epoch FROM now()) - ($3::bigint - i + 60)) * 1000)::bigint * 1000000 AS ns
    FROM generate_series($2::bigint + 1, least($2::bigint + ${BATCH}, $3::bigint)) AS i) AS made,
    (SELECT * FROM executions WHERE phase = 'SUCCEEDED' AND launch_entity = 'launch_plan' AND execution_project = $5
      AND execution_domain = $6 AND execution_name NOT LIKE $1::text || '%' ORDER BY id DESC LIMIT 1) AS one
  ON CONFLICT DO NOTHING`;

/**
 * Inserts the nodes of a batch's executions that have none, as copies of a node of the real
 * execution. They begin one after the other during the first half of the execution, and take times
 * without a pattern, as real ones do: columns with a pattern compress to nothing.
 */
const INSERT_NODES = `INSERT INTO node_executions (execution_id, node_id, created_at, updated_at, revision, spec_node_id, phase, phase_order,
    first_ns, first_order, started_ns, started_order, updated_ns, ended_ns, duration, input_uri, output_uri, cache_status, target, target_order,
    inputs, outputs)
  SELECT e.id, 'n' || k, e.created_at, e.updated_at, one.revision, 'n' || k, one.phase, one.phase_order, e.accepted_ns + began, one.first_order,
    e.accepted_ns + began + took * waited / 400, one.started_order, e.accepted_ns + began + took, e.accepted_ns + began + took, took - took * waited / 400,
    one.input_uri, one.output_uri, one.cache_status, one.target, one.target_order, one.inputs, one.outputs
  FROM executions e CROSS JOIN generate_series(1, $4::int) AS k
    CROSS JOIN LATERAL (SELECT e.duration / 2 * (k - 1) / $4::int AS began,
      e.duration / 200 * (10 + abs(hashint4(k) % 1000) * 60 / 1000) AS took, abs(hashint4(k + 1) % 100) AS waited) AS times,
    (SELECT n.* FROM node_executions n JOIN executions ran ON ran.id = n.execution_id
      WHERE n.phase = 'SUCCEEDED' AND n.input_uri <> '' AND ran.execution_name NOT LIKE $1::text || '%' ORDER BY n.id DESC LIMIT 1) AS one
  WHERE e.execution_project = $5 AND e.execution_domain = $6
    AND e.execution_name IN (SELECT $1::text || i FROM generate_series($2::bigint + 1, least($2::bigint + ${BATCH}, $3::bigint)) AS i)
  ON CONFLICT DO NOTHING`;

/** Inserts an attempt of each of these nodes that has none, as copies of a real one. */
const INSERT_ATTEMPTS = `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, created_at, updated_at,
    revision, phase, phase_version, phase_order, first_ns, first_order, started_ns, started_order, updated_ns, ended_ns, duration, input_uri,
    output_uri, inputs, outputs)
  SELECT n.execution_id, n.node_id, one.project, one.domain, one.name, one.version, one.retry_attempt, n.created_at, n.updated_at, one.revision,
    one.phase, one.phase_version, one.phase_order, n.first_ns, one.first_order, n.started_ns, one.started_order, n.updated_ns, n.ended_ns,
    n.duration, one.input_uri, one.output_uri, one.inputs, one.outputs
  FROM executions e JOIN node_executions n ON n.execution_id = e.id,
    (SELECT t.* FROM task_executions t JOIN executions ran ON ran.id = t.execution_id
      WHERE t.phase = 'SUCCEEDED' AND ran.execution_name NOT LIKE $1::text || '%' ORDER BY t.id DESC LIMIT 1) AS one
  WHERE e.execution_project = $4 AND e.execution_domain = $5
    AND e.execution_name IN (SELECT $1::text || i FROM generate_series($2::bigint + 1, least($2::bigint + ${BATCH}, $3::bigint)) AS i)
  ON CONFLICT DO NOTHING`;

export interface SeedOptions {
  readonly project: string;
  readonly domain: string;
  readonly rows: number;
  /** Nodes per execution. */
  readonly nodes: number;
}

/**
 * Fills admin's database up to a number of executions in a project and domain; existing ones stay.
 *
 * @throws Error when there is no execution to copy
 */
export async function seedExecutions(
  db: Database,
  { project, domain, rows, nodes }: SeedOptions,
): Promise<{ readonly added: number; readonly nodesAdded: number }> {
  const error = toBinary(
    ExecutionErrorSchema,
    create(ExecutionErrorSchema, {
      code: "USER:ValueError",
      message: `Traceback (most recent call last):\n${'  File "/root/work.py", line 12, in work\n'.repeat(20)}ValueError: it is too large`,
      kind: ExecutionError_ErrorKind.USER,
    }),
  );
  let added = 0;
  let nodesAdded = 0;
  for (let from = 0; from < rows; from += BATCH) {
    const batch = { project, domain, last: Math.min(from + BATCH, rows), nodes };
    if (await isSeeded(db, batch)) continue;
    const { rowCount: count } = await db.query({
      name: "fill",
      text: INSERT_EXECUTIONS,
      values: [SEEDED_PREFIX, from, rows, error, project, domain],
    });
    added += count;
    if (from === 0 && count === 0 && !(await isSeeded(db, { ...batch, nodes: 0 }))) {
      throw new Error(`no execution of a launch plan has succeeded in ${project}/${domain}: run a workload first, for instance chain 1`);
    }
    if (nodes === 0) continue;
    nodesAdded += (await db.query({ text: INSERT_NODES, values: [SEEDED_PREFIX, from, rows, nodes, project, domain] })).rowCount;
    await db.query({ text: INSERT_ATTEMPTS, values: [SEEDED_PREFIX, from, rows, project, domain] });
  }
  // Do what autovacuum does after some minutes: update statistics and the visibility map.
  await db.query({ text: "VACUUM (ANALYZE) executions, node_executions, task_executions" });
  return { added, nodesAdded };
}

interface Batch {
  readonly project: string;
  readonly domain: string;
  /** Number of the batch's last execution. */
  readonly last: number;
  readonly nodes: number;
}

/** Reports whether an earlier run has inserted the batch. */
async function isSeeded(db: Database, { project, domain, last, nodes }: Batch): Promise<boolean> {
  const { rowCount: count } = await db.query({
    text: `SELECT 1 FROM executions e WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3
      AND ($4::int = 0 OR EXISTS (SELECT 1 FROM node_executions n WHERE n.execution_id = e.id AND n.node_id = 'n' || $4))`,
    values: [project, domain, `${SEEDED_PREFIX}${last}`, nodes],
  });
  return count > 0;
}
