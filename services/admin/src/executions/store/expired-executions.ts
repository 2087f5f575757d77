import type { Queryable } from "@flyte-ts/postgres";

/** A project and domain with executions. */
export interface ProjectDomain {
  readonly project: string;
  readonly domain: string;
}

const FIRST_PLACE = "SELECT execution_project AS project, execution_domain AS domain FROM executions";

/** Recursive table `place` of all projects and domains with executions: a loose index scan. */
export const PLACES = `place(project, domain) AS ((${FIRST_PLACE} ORDER BY execution_project, execution_domain LIMIT 1)
  UNION ALL SELECT n.project, n.domain FROM place, LATERAL (${FIRST_PLACE}
    WHERE (execution_project, execution_domain) > (place.project, place.domain) ORDER BY execution_project, execution_domain LIMIT 1) AS n)`;

/** Finds all projects and domains with executions. */
export async function listProjectDomains(db: Queryable): Promise<readonly ProjectDomain[]> {
  const { rows } = await db.query<ProjectDomain>({
    name: "places-with-executions",
    text: `WITH RECURSIVE ${PLACES} SELECT project, domain FROM place`,
  });
  return rows;
}

/** Position in an iteration over due executions. */
export interface ExpiryCursor {
  /** As PostgreSQL formats it: a Date would truncate it to milliseconds. */
  readonly changedAt: string;
  readonly id: bigint;
}

export interface Expired {
  readonly id: bigint;
  readonly after: ExpiryCursor;
}

export interface ExpiryOptions {
  readonly place: ProjectDomain;
  readonly now: Date;
  readonly limit: number;
  readonly after?: ExpiryCursor | undefined;
}

export interface ExpiryQuery extends ExpiryOptions {
  /** Retention, seconds, of workflows without one of their own. */
  readonly seconds: number;
  /** Retention of single workflows. */
  readonly own: readonly { readonly workflow: string; readonly seconds: number }[];
}

/** Finds terminal executions that have not changed for their retention, oldest first. */
export async function findExpired(db: Queryable, { place, now, limit, after, seconds, own }: ExpiryQuery): Promise<readonly Expired[]> {
  const retentions = own.map((each) => each.seconds);
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
      retentions,
      seconds,
      now,
      Math.min(seconds, ...retentions),
      after?.changedAt ?? "-infinity",
      after?.id ?? 0n,
      limit,
    ],
  });
  return rows.map(({ id, changed }) => ({ id, after: { changedAt: changed, id } }));
}
