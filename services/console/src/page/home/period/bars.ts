import type { BucketJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { readTimeMs } from "../../../format/time.js";

/** Kinds of ends with the phases of their colours, in the order of a bar from its foot. */
export const SHOWN_KINDS = [
  { kind: "succeeded", phase: "ok", title: "Succeeded" },
  { kind: "failed", phase: "bad", title: "Failed" },
  { kind: "aborted", phase: "stop", title: "Aborted" },
  { kind: "open", phase: "run", title: "Open" },
] as const;

type Kind = (typeof SHOWN_KINDS)[number]["kind"];

interface Part {
  readonly kind: Kind;
  /** Number of executions below this part of the bar. */
  readonly from: number;
  /** The same, with the executions of this part. */
  readonly to: number;
}

export interface BarColumn {
  /** Place of the bar, the oldest is 0. */
  readonly index: number;
  readonly total: number;
  readonly parts: readonly Part[];
}

export interface BarsOptions {
  readonly bucketMs: number;
  /** Time within the last bucket. */
  readonly endMs: number;
  readonly count: number;
}

/** Places buckets as bars of parts; the top of the scale is a round number above the largest. */
export function bars(buckets: readonly BucketJson[], { bucketMs, endMs, count }: BarsOptions) {
  const startMs = (Math.floor(endMs / bucketMs) + 1 - count) * bucketMs;
  const columns: readonly BarColumn[] = buckets.flatMap(({ startsAt, totals = {} }) => {
    const index = Math.round(((readTimeMs(startsAt) ?? 0) - startMs) / bucketMs);
    if (index < 0 || index >= count) return [];
    let total = 0;
    const parts: Part[] = [];
    for (const { kind } of SHOWN_KINDS) {
      const size = totals?.[kind] ?? 0;
      if (size > 0) parts.push({ kind, from: total, to: total + size });
      total += size;
    }
    return [{ index, total, parts }];
  });
  return { columns, startMs, top: roundUp(Math.max(0, ...columns.map(({ total }) => total))) };
}

/** Returns the least of some round numbers that is not below a number. */
function roundUp(number: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, number)));
  return ([1, 2, 3, 4, 6, 8, 10].find((factor) => factor * power >= number) ?? 10) * power;
}
