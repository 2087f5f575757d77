import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Bucket, BucketSchema, type PhaseTotals, PhaseTotalsSchema } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { Scope } from "./store/scope.js";
import { countByPhase, type CountRow, MAX_COUNTED } from "./store/phase-counts.js";

const QUARTER_SECONDS = 15 * 60;
const WIDE_SECONDS = 2 * 60 * 60;
const HOURS_OF_QUARTERS = 24;
const HOUR_MS = 3_600_000;

type Kind = "succeeded" | "failed" | "aborted" | "open";

/** Field of the totals in which a phase counts. */
const KINDS: Readonly<Record<string, Kind>> = {
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  TIMED_OUT: "failed",
  ABORTED: "aborted",
  UNDEFINED: "open",
  QUEUED: "open",
  RUNNING: "open",
  SUCCEEDING: "open",
  FAILING: "open",
  ABORTING: "open",
};

export interface Period {
  readonly now: Date;
  readonly hours: number;
}

/** Counts the executions of a period by bucket, and of the period before it. */
export async function countPeriods(db: Queryable, scope: Scope, { now, hours }: Period) {
  const bucketSeconds = hours <= HOURS_OF_QUARTERS ? QUARTER_SECONDS : WIDE_SECONDS;
  const bucketMs = bucketSeconds * 1000;
  // Periods consist of whole buckets; the last one ends after now.
  const end = Math.floor(now.getTime() / bucketMs) + 1;
  const length = Math.ceil((hours * HOUR_MS) / bucketMs);
  const since = new Date((end - 2 * length) * bucketMs);
  const rows = await countByPhase(db, scope, { phases: Object.keys(KINDS), since, bucketSeconds });
  const [period, previousPeriod] = [create(PhaseTotalsSchema), create(PhaseTotalsSchema)];
  const buckets = new Map<number, Bucket>();
  for (const row of rows) {
    const kind = KINDS[row.phase];
    const number = Number(row.bucket);
    if (kind === undefined) continue;
    if (number < end - length) previousPeriod[kind] += row.count;
    else {
      period[kind] += row.count;
      bucketOf(buckets, number, bucketMs)[kind] += row.count;
    }
  }
  return {
    period,
    previousPeriod,
    bucket: durationFromMs(bucketMs),
    buckets: [...buckets.entries()].sort(([one], [other]) => one - other).map(([, bucket]) => bucket),
    truncated: isTruncated(rows),
  };
}

function bucketOf(buckets: Map<number, Bucket>, number: number, bucketMs: number): PhaseTotals {
  const totals = buckets.get(number)?.totals ?? create(PhaseTotalsSchema);
  if (!buckets.has(number)) buckets.set(number, create(BucketSchema, { startsAt: timestampFromMs(number * bucketMs), totals }));
  return totals;
}

function isTruncated(rows: readonly CountRow[]): boolean {
  const byPhase = new Map<string, number>();
  for (const { phase, count } of rows) byPhase.set(phase, (byPhase.get(phase) ?? 0) + count);
  return [...byPhase.values()].some((count) => count >= MAX_COUNTED);
}
