import { type Queryable, textArray } from "@flyte-ts/postgres";
import type { SearchQuery } from "./search-query.js";

/** Newest executions whose names are compared with the words. */
const MAX_NEWEST = 5_000;
/** Executions whose names are compared in the index of names. */
const MAX_RANGE = 1_000;

export interface FoundExecutionRow {
  execution_name: string;
  workflow_name: string;
  phase: string;
  created_at: Date;
}

/**
 * Finds executions by the beginning of the name, and among the newest ones by all words; newest
 * first. Reads ranges of two indexes with a fixed number of entries.
 */
export async function findExecutions(db: Queryable, { scope, text, patterns, limit }: SearchQuery): Promise<readonly FoundExecutionRow[]> {
  const columns = "id, execution_name, workflow_name, phase, created_at";
  const inScope = "execution_project = $1 AND execution_domain = $2";
  const { rows } = await db.query<FoundExecutionRow>({
    name: "search-executions",
    text: `WITH ranged AS (SELECT ${columns} FROM executions WHERE ${inScope} AND execution_name >= $4
        ORDER BY execution_name LIMIT ${MAX_RANGE}),
      newest AS (SELECT ${columns} FROM executions WHERE ${inScope} ORDER BY created_at DESC, id DESC LIMIT ${MAX_NEWEST})
      SELECT execution_name, workflow_name, phase, created_at FROM (
        SELECT * FROM ranged WHERE starts_with(execution_name, $4)
        UNION
        SELECT * FROM newest WHERE execution_name || ' ' || workflow_name ILIKE ALL ($3::text[])
      ) AS found ORDER BY created_at DESC, execution_name LIMIT $5`,
    values: [scope.project, scope.domain, textArray(patterns), text.toLowerCase(), limit],
  });
  return rows;
}
