import type { Progress, ProgressStore } from "../progress.js";
import { scheduleKey } from "../schedule.js";

interface Row {
  activatedAt: number;
  doneThrough: number;
  claimedBy: string | undefined;
  claimedUntil: number;
}

/** Rows that outlive the replicas of a simulation. */
export type Rows = Map<string, Row>;

/** In-memory equivalent of the PostgreSQL store; `now` is the database's clock. */
export function memoryProgress(
  rows: Rows,
  { replica, claimMs, now }: { replica: string; claimMs: number; now: () => number },
): ProgressStore {
  const read = ({ activatedAt, doneThrough, claimedBy, claimedUntil }: Row): Progress => ({
    activatedAt,
    doneThrough,
    claimedForMs: claimedBy === undefined ? 0 : Math.max(claimedUntil - now(), 0),
  });
  return {
    async open(schedules) {
      const found = new Map<string, Progress>();
      for (const { launchPlan, activatedAt } of schedules) {
        const key = scheduleKey(launchPlan);
        let row = rows.get(key);
        if (row === undefined || row.activatedAt < activatedAt) {
          row = { activatedAt, doneThrough: activatedAt, claimedBy: undefined, claimedUntil: 0 };
          rows.set(key, row);
        }
        found.set(key, read(row));
      }
      return found;
    },
    async claim({ launchPlan, activatedAt }, doneThrough) {
      const row = rows.get(scheduleKey(launchPlan));
      if (row === undefined) return { won: false, progress: undefined };
      const isFree = row.claimedBy === undefined || row.claimedBy === replica || row.claimedUntil < now();
      if (row.activatedAt !== activatedAt || row.doneThrough !== doneThrough || !isFree) return { won: false, progress: read(row) };
      row.claimedBy = replica;
      row.claimedUntil = now() + claimMs;
      return { won: true };
    },
    async advance({ launchPlan, activatedAt }, through) {
      const row = rows.get(scheduleKey(launchPlan));
      if (row === undefined || row.activatedAt !== activatedAt || row.doneThrough >= through) return;
      row.doneThrough = through;
      row.claimedBy = undefined;
    },
    async forget() {},
  };
}
