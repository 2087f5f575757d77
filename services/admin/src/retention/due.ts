import type { Queryable } from "@flyte-ts/postgres";
import type { RetentionConfig } from "./config-schema.js";
import { policiesFor, policyThatHolds } from "./policy.js";

const DAY_SECONDS = 86_400;
/** Unlimited retention, seconds. */
const FOR_EVER = 5e10;

/** A project and domain with executions. */
export interface Place {
  readonly project: string;
  readonly domain: string;
}

/** Finds all projects and domains with a loose index scan. */
export async function placesOf(db: Queryable): Promise<readonly Place[]> {
  const places = "SELECT execution_project AS project, execution_domain AS domain FROM executions";
  const { rows } = await db.query<Place>({
    name: "places-of-executions",
    text: `WITH RECURSIVE place(project, domain) AS ((${places} ORDER BY execution_project, execution_domain LIMIT 1)
      UNION ALL SELECT n.project, n.domain FROM place, LATERAL (${places}
        WHERE (execution_project, execution_domain) > (place.project, place.domain) ORDER BY execution_project, execution_domain LIMIT 1) AS n)
      SELECT project, domain FROM place`,
  });
  return rows;
}

/** Position in an iteration over due executions. */
export interface After {
  /** As PostgreSQL formats it: a Date would truncate it to milliseconds. */
  readonly changedAt: string;
  readonly id: bigint;
}

export interface Due {
  readonly id: bigint;
  readonly after: After;
}

export interface DueOptions {
  readonly place: Place;
  readonly now: Date;
  readonly limit: number;
  readonly after?: After | undefined;
}

/**
 * Returns terminal executions that have not changed during the retention of their policy, oldest first. Excludes
 * children of existing executions, which are deleted with their parent, and executions in deletion.
 */
export async function dueExecutions(
  db: Queryable,
  config: RetentionConfig,
  { place, now, limit, after }: DueOptions,
): Promise<readonly Due[]> {
  const policies = await policiesFor(db, place);
  const general = policyThatHolds(policies, "");
  const configured = config.keepDays === 0 ? FOR_EVER : config.keepDays * DAY_SECONDS;
  const seconds = general === undefined ? configured : Number(general.keepSeconds ?? FOR_EVER);
  const own = policies.filter(({ workflow }) => workflow !== "");
  const keeps = own.map(({ keepSeconds }) => Number(keepSeconds ?? FOR_EVER));
  if (Math.min(seconds, ...keeps) >= FOR_EVER) return [];
  const { rows } = await db.query<{ id: bigint; changed: string }>({
    name: "due-executions",
    text: `SELECT e.id, e.execution_updated_at::text AS changed FROM executions e
        LEFT JOIN unnest($3::text[], $4::float8[]) AS own(workflow, keep) ON own.workflow = e.workflow_name
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_updated_at < $6::timestamptz - $7::float8 * interval '1 second'
        AND e.execution_updated_at < $6::timestamptz - COALESCE(own.keep, $5::float8) * interval '1 second'
        AND (e.execution_updated_at, e.id) > ($8::timestamptz, $9::bigint)
        AND e.phase IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT')
        AND NOT EXISTS (SELECT FROM executions p WHERE p.id = e.parent_execution_id)
        AND NOT EXISTS (SELECT FROM execution_deletions d WHERE d.execution_id = e.id)
      ORDER BY e.execution_updated_at, e.id LIMIT $10`,
    values: [
      place.project,
      place.domain,
      own.map(({ workflow }) => workflow),
      keeps,
      seconds,
      now,
      Math.min(seconds, ...keeps),
      after?.changedAt ?? "-infinity",
      after?.id ?? 0n,
      limit,
    ],
  });
  return rows.map(({ id, changed }) => ({ id, after: { changedAt: changed, id } }));
}
