import type { Watermark, WatermarkStore } from "../watermark-store.js";
import { scheduleKey } from "../schedule.js";

interface Row {
  activatedAt: number;
  watermark: number;
  leaseOwner: string | undefined;
  leaseExpiresAt: number;
}

/** Rows that outlive the replicas of a simulation. */
export type Rows = Map<string, Row>;

/** In-memory equivalent of the PostgreSQL store; `now` is the database's clock. */
export function memoryWatermarkStore(
  rows: Rows,
  { replica, claimMs, now }: { replica: string; claimMs: number; now: () => number },
): WatermarkStore {
  const read = ({ activatedAt, watermark, leaseOwner, leaseExpiresAt }: Row): Watermark => ({
    activatedAt,
    watermark,
    leaseRemainingMs: leaseOwner === undefined ? 0 : Math.max(leaseExpiresAt - now(), 0),
  });
  return {
    async ensureRows(schedules) {
      const found = new Map<string, Watermark>();
      for (const { launchPlan, activatedAt } of schedules) {
        const key = scheduleKey(launchPlan);
        let row = rows.get(key);
        if (row === undefined || row.activatedAt < activatedAt) {
          row = { activatedAt, watermark: activatedAt, leaseOwner: undefined, leaseExpiresAt: 0 };
          rows.set(key, row);
        }
        found.set(key, read(row));
      }
      return found;
    },
    async adoptActivation({ launchPlan, activatedAt }, recorded) {
      const row = rows.get(scheduleKey(launchPlan));
      if (row === undefined || row.activatedAt !== recorded.activatedAt) return;
      row.watermark = row.watermark > recorded.now ? activatedAt : Math.max(row.watermark, activatedAt);
      row.activatedAt = activatedAt;
      row.leaseOwner = undefined;
    },
    async acquireLease({ launchPlan, activatedAt }, watermark) {
      const row = rows.get(scheduleKey(launchPlan));
      if (row === undefined) return { acquired: false, watermark: undefined };
      const isFree = row.leaseOwner === undefined || row.leaseOwner === replica || row.leaseExpiresAt < now();
      if (row.activatedAt !== activatedAt || row.watermark !== watermark || !isFree) return { acquired: false, watermark: read(row) };
      row.leaseOwner = replica;
      row.leaseExpiresAt = now() + claimMs;
      return { acquired: true };
    },
    async advance({ launchPlan, activatedAt }, through) {
      const row = rows.get(scheduleKey(launchPlan));
      if (row === undefined || row.activatedAt !== activatedAt || row.watermark >= through) return;
      row.watermark = through;
      row.leaseOwner = undefined;
    },
    async prune() {},
  };
}
