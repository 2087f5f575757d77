import { triggeredExecutionName } from "@flyte-ts/domain/name";
import type { Queryable } from "@flyte-ts/postgres";
import type { CompletedExecution } from "../completion/completed-execution.js";
import { workflowPhaseName } from "../../executions/projection/phase-name.js";

interface Match {
  trigger_id: bigint;
  target_project: string;
  target_domain: string;
  execution_id: bigint;
  depth: number;
}

/**
 * Inserts the firings of triggers on these ends: one per trigger and execution, idempotently.
 *
 * @returns the number of matching triggers.
 */
export async function createFirings(
  tx: Queryable,
  completed: readonly CompletedExecution[],
  { maxDepth }: { readonly maxDepth: number },
): Promise<number> {
  const matches = await findMatches(tx, completed);
  if (matches.length === 0) return 0;
  const byId = new Map(completed.map((execution) => [execution.rowId, execution]));
  const firings = matches.flatMap((match) => {
    const execution = byId.get(match.execution_id);
    return execution === undefined ? [] : [firingRow(match, execution, maxDepth)];
  });
  await insertFirings(tx, firings);
  return matches.length;
}

/** Stores firings; repeated ones, of the same trigger and execution, change nothing. */
async function insertFirings(tx: Queryable, firings: readonly FiringInsert[]): Promise<void> {
  await tx.query({
    name: "insert-firings",
    text: `INSERT INTO trigger_firings (trigger_id, cause, source_execution_id, source_project, source_domain, source_name, happened_at,
        execution_project, execution_domain, execution_name, depth, state, reason, ended_at)
      SELECT given.*, CASE WHEN given.state = 'refused' THEN now() END
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::text[],
        $10::text[], $11::int[], $12::text[], $13::text[]) AS given (trigger_id, cause, source_execution_id, source_project,
        source_domain, source_name, happened_at, execution_project, execution_domain, execution_name, depth, state, reason)
      ON CONFLICT DO NOTHING`,
    values: FIRING_COLUMNS.map((column) => firings.map((firing) => firing[column])),
  });
}

export type FiringInsert = Readonly<Record<(typeof FIRING_COLUMNS)[number], unknown>>;

const FIRING_COLUMNS = [
  "triggerId",
  "cause",
  "sourceId",
  "project",
  "domain",
  "name",
  "at",
  "targetProject",
  "targetDomain",
  "startedName",
  "depth",
  "state",
  "reason",
] as const;

function firingRow(match: Match, { rowId, project, domain, name, acceptedNs, endedNs }: CompletedExecution, maxDepth: number) {
  const cause = `execution ${JSON.stringify([project, domain, name, String(acceptedNs)])}`;
  const depth = match.depth + 1;
  const tooDeep = depth > maxDepth;
  return {
    triggerId: match.trigger_id,
    cause,
    sourceId: rowId,
    project,
    domain,
    name,
    at: new Date(Number((endedNs ?? acceptedNs) / 1_000_000n)),
    targetProject: match.target_project,
    targetDomain: match.target_domain,
    startedName: triggeredExecutionName(String(match.trigger_id), cause),
    depth,
    state: tooDeep ? "refused" : "waiting",
    reason: tooDeep ? `a chain of ${match.depth} triggers led to this execution already, and triggers.maxDepth is ${maxDepth}` : "",
  };
}

/**
 * Finds triggers by project and domain; compares names row by row, since few triggers share a project and domain. The
 * depth of a chain comes from the firing that started the execution or an ancestor of it.
 */
async function findMatches(tx: Queryable, completed: readonly CompletedExecution[]): Promise<readonly Match[]> {
  const { rows } = await tx.query<Match>({
    name: "match-triggers",
    text: `SELECT t.id AS trigger_id, t.target_project, t.target_domain, given.id AS execution_id, coalesce(chain.depth, 0) AS depth
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        AS given (id, project, domain, launch_plan, workflow, phase)
      JOIN triggers t ON t.active AND t.source_project = given.project AND t.source_domain = given.domain
        AND t.source_launch_plan IN ('', given.launch_plan) AND t.source_workflow IN ('', given.workflow)
        AND given.phase = ANY (t.source_phases)
      LEFT JOIN LATERAL (
        WITH RECURSIVE line AS (
          SELECT e.parent_execution_id, e.execution_project, e.execution_domain, e.execution_name FROM executions e WHERE e.id = given.id
          UNION ALL
          SELECT p.parent_execution_id, p.execution_project, p.execution_domain, p.execution_name
          FROM line JOIN executions p ON p.id = line.parent_execution_id
        )
        SELECT max(f.depth) AS depth FROM line JOIN trigger_firings f ON f.execution_project = line.execution_project
          AND f.execution_domain = line.execution_domain AND f.execution_name = line.execution_name
      ) chain ON true
      ORDER BY t.id, given.id`,
    values: [
      completed.map(({ rowId }) => rowId),
      completed.map(({ project }) => project),
      completed.map(({ domain }) => domain),
      completed.map(({ launchPlanName }) => launchPlanName),
      completed.map(({ workflowName }) => workflowName),
      completed.map(({ phase }) => workflowPhaseName(phase)),
    ],
  });
  return rows;
}
