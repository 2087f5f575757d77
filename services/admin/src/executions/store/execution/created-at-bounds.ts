import type { Queryable } from "@flyte-ts/postgres";
import { type Condition, type ListRequest, orderOf, type ResolvedFilter } from "../../../platform/index.js";
import { executionEntity } from "./list-entity.js";

/** Timestamps that follow the acceptance of an execution. */
const LATER_COLUMNS: ReadonlySet<string> = new Set(["started_at", "execution_created_at", "execution_updated_at", "updated_at"]);
const UPPER_BOUND_OPERATORS: ReadonlySet<string> = new Set(["lt", "lte"]);

/** Same expression as in the index executions_clock_behind. */
const CLOCK_SKEW = `LEAST(started_at, execution_created_at, execution_updated_at, updated_at) AT TIME ZONE 'UTC'
  < created_at AT TIME ZONE 'UTC' - interval '1 hour'`;

/**
 * Derives an upper bound on created_at from bounds on later timestamps, for lists sorted newest
 * first: an execution that started before noon was accepted before noon. The index scan then starts
 * at the requested range instead of at today's executions. Returns nothing when an execution of the
 * project and domain has a timestamp more than an hour before its creation.
 */
export async function deriveCreatedAtBounds(
  db: Queryable,
  request: ListRequest,
  terms: readonly ResolvedFilter[],
): Promise<readonly Condition[]> {
  const { columns, direction } = orderOf(executionEntity, request);
  const newestFirst = columns[0] === "created_at" && direction === "DESC";
  const bounds = terms.filter(
    (term) => term.prefix === "execution" && LATER_COLUMNS.has(term.name) && UPPER_BOUND_OPERATORS.has(term.function),
  );
  if (!newestFirst || bounds.length === 0) return [];
  const { rowCount } = await db.query({
    name: "executions-with-clock-behind",
    text: `SELECT 1 FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND ${CLOCK_SKEW} LIMIT 1`,
    values: [request.equal?.execution_project, request.equal?.execution_domain],
  });
  if (rowCount > 0) return [];
  return bounds.map(({ condition }) => ({ sql: "executions.created_at <= $$::timestamptz + interval '1 hour'", value: condition.value }));
}
