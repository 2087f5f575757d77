import type { Queryable } from "@flyte-ts/postgres";
import { indexedBy } from "./indexed-by.js";
import type { Scope } from "./scope.js";

const MAX_FAILURES = 300;
/** Bytes of an error that are read: its code and the beginning of its message. */
const ERROR_BYTES = 8_192;

export interface FailureRow {
  execution_name: string;
  workflow_name: string;
  created_at: Date;
  /** Beginning of an encoded core.ExecutionError. */
  error: Uint8Array | null;
}

/** Finds the latest failed executions that are not archived, newest first. */
export async function findFailures(db: Queryable, { project, domain }: Scope, since: Date): Promise<readonly FailureRow[]> {
  const { rows } = await db.query<FailureRow>({
    name: "overview-failures",
    text: `SELECT e.* FROM unnest(ARRAY['FAILED', 'TIMED_OUT']) AS given (phase)
      CROSS JOIN LATERAL (SELECT execution_name, workflow_name, created_at, substring(error FROM 1 FOR ${ERROR_BYTES}) AS error FROM executions
        WHERE execution_project = $1 AND execution_domain = $2 AND ${indexedBy("phase", "given.phase")} AND created_at >= $3 AND state = 0
        ORDER BY phase DESC, created_at DESC LIMIT ${MAX_FAILURES}) AS e
      ORDER BY e.created_at DESC, e.execution_name LIMIT ${MAX_FAILURES}`,
    values: [project, domain, since],
  });
  return rows;
}
