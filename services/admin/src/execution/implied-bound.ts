import type { Queryable } from "@flyte-ts/postgres";
import type { Condition } from "../list/condition.js";
import { type ListRequest, orderOf, type ReadTerm } from "../list/plan.js";
import { executionEntity } from "./list-entity.js";

/** Times that come after an execution is accepted. */
const LATER: ReadonlySet<string> = new Set(["started_at", "execution_created_at", "execution_updated_at", "updated_at"]);
const BEFORE: ReadonlySet<string> = new Set(["lt", "lte"]);

/** As the index executions_clock_behind has it. */
const CLOCK_BEHIND = `LEAST(started_at, execution_created_at, execution_updated_at, updated_at) AT TIME ZONE 'UTC'
  < created_at AT TIME ZONE 'UTC' - interval '1 hour'`;

/**
 * What bounds on other times say of created_at, when the newest come first: what began before noon was not accepted in
 * the afternoon. Without it a list of last month's executions would begin at those of today and throw them away one by
 * one. Nothing where an execution of the project and domain has a time that is older than it itself by more than an hour.
 */
export async function impliedBounds(db: Queryable, request: ListRequest, terms: readonly ReadTerm[]): Promise<readonly Condition[]> {
  const { columns, direction } = orderOf(executionEntity, request);
  const newestFirst = columns[0] === "created_at" && direction === "DESC";
  const bounds = terms.filter((term) => term.prefix === "execution" && LATER.has(term.name) && BEFORE.has(term.function));
  if (!newestFirst || bounds.length === 0) return [];
  const { count } = await db.query({
    name: "executions-with-clock-behind",
    text: `SELECT 1 FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND ${CLOCK_BEHIND} LIMIT 1`,
    values: [request.equal?.execution_project, request.equal?.execution_domain],
  });
  if (count > 0) return [];
  return bounds.map(({ condition }) => ({ sql: "executions.created_at <= $$::timestamptz + interval '1 hour'", value: condition.value }));
}
