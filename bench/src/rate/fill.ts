import { create, toBinary } from "@bufbuild/protobuf";
import { ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Database } from "@flyte-ts/postgres";

/** Names of filled executions: this and their number, from 1. */
export const FILLED = "filled-";

/** Rows of one statement. */
const BATCH = 20_000;

/**
 * Executions that have ended, one a second up to now: copies of one that really ran, by other names and times. One in
 * ten has failed, one in fifty was aborted. All are settled, so that nothing in admin takes them up.
 */
const INSERT = `INSERT INTO executions (execution_project, execution_domain, execution_name, created_at, updated_at, revision,
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

export interface FillOptions {
  readonly project: string;
  readonly domain: string;
  readonly rows: number;
}

/**
 * Fills admin's database up to so many executions in a project and domain; those that are there stay.
 *
 * @throws Error when there is none to copy.
 */
export async function fillExecutions(db: Database, { project, domain, rows }: FillOptions): Promise<{ readonly added: number }> {
  const error = toBinary(
    ExecutionErrorSchema,
    create(ExecutionErrorSchema, {
      code: "USER:ValueError",
      message: `Traceback (most recent call last):\n${'  File "/root/work.py", line 12, in work\n'.repeat(20)}ValueError: it is too large`,
      kind: ExecutionError_ErrorKind.USER,
    }),
  );
  let added = 0;
  for (let from = 0; from < rows; from += BATCH) {
    const { count } = await db.query({ name: "fill", text: INSERT, values: [FILLED, from, rows, error, project, domain] });
    added += count;
    if (from === 0 && count === 0 && !(await isThere(db))) {
      throw new Error(`no execution of a launch plan has succeeded in ${project}/${domain}: run a shape first, for instance chain 1`);
    }
  }
  // As the server itself does after some minutes: statistics for the planner, and pages known to be visible to all.
  await db.query({ text: "VACUUM (ANALYZE) executions" });
  return { added };
}

async function isThere(db: Database): Promise<boolean> {
  const { count } = await db.query({ text: "SELECT 1 FROM executions WHERE execution_name = $1", values: [`${FILLED}1`] });
  return count > 0;
}
