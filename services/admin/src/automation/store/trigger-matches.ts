import type { Queryable } from "@flyte-ts/postgres";
import type { CompletedExecution } from "../model/completed-execution.js";
import { phaseNames } from "../../executions/index.js";

export interface Match {
  trigger_id: bigint;
  target_project: string;
  target_domain: string;
  execution_id: bigint;
  depth: number;
}

/**
 * Finds triggers by project and domain; compares names row by row, since few triggers share a
 * project and domain. The depth of a chain comes from the firing that started the execution or an
 * ancestor of it.
 */
export async function findMatches(tx: Queryable, completed: readonly CompletedExecution[]): Promise<readonly Match[]> {
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
      completed.map(({ phase }) => phaseNames.workflowPhaseName(phase)),
    ],
  });
  return rows;
}
