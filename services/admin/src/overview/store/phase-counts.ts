import { type Queryable, textArray } from "@flyte-ts/postgres";
import { indexedBy } from "./indexed-by.js";
import type { Scope } from "./scope.js";

/** Executions of one phase that are counted. */
export const MAX_COUNTED = 50_000;

export interface CountOptions {
  readonly phases: readonly string[];
  readonly since: Date;
  readonly bucketSeconds: number;
}

export interface CountRow {
  phase: string;
  /** Number of the bucket since the epoch. */
  bucket: bigint;
  count: number;
}

/** Counts the newest executions of each phase by time of creation, from an index alone. */
export async function countByPhase(
  db: Queryable,
  { project, domain }: Scope,
  { phases, since, bucketSeconds }: CountOptions,
): Promise<readonly CountRow[]> {
  const { rows } = await db.query<CountRow>({
    name: "overview-count-by-phase",
    text: `SELECT given.phase, floor(extract(epoch FROM e.created_at) / $5::float8)::bigint AS bucket, count(*)::int AS count
      FROM unnest($3::text[]) AS given (phase)
      CROSS JOIN LATERAL (SELECT created_at FROM executions WHERE execution_project = $1 AND execution_domain = $2
        AND ${indexedBy("phase", "given.phase")} AND created_at >= $4 ORDER BY phase DESC, created_at DESC LIMIT ${MAX_COUNTED}) AS e
      GROUP BY 1, 2`,
    values: [project, domain, textArray(phases), since, bucketSeconds],
  });
  return rows;
}
