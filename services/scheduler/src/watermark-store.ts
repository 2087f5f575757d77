import type { Database } from "@flyte-ts/postgres";
import { type LaunchPlanId, type Schedule, scheduleKey } from "./schedule.js";

/** Progress of a schedule. Times are ms since the epoch. */
export interface Watermark {
  readonly activatedAt: number;
  /** All runs due until this time are done. */
  readonly watermark: number;
  /** Remaining time of another replica's claim on the next run, ms; 0 without a claim. */
  readonly leaseRemainingMs: number;
}

export type LeaseResult =
  /** Only this replica may start the run, for the claim's duration. */
  | { readonly acquired: true }
  /**
   * Another replica is starting the run, or has; undefined when the schedule is no longer known.
   */
  | { readonly acquired: false; readonly watermark: Watermark | undefined };

type Known = Pick<Schedule, "key" | "launchPlan" | "activatedAt">;

/** Progress of schedules, shared by all replicas and durable. */
export interface WatermarkStore {
  /**
   * Registers the schedules, from their activation on, and returns the progress of each by its key.
   */
  ensureRows(schedules: readonly Known[]): Promise<ReadonlyMap<string, Watermark>>;
  /**
   * Replaces a recorded activation by the schedule's earlier one, unless it has changed meanwhile.
   * Runs that are done stay done; a watermark in the future is none.
   */
  adoptActivation(schedule: Known, recorded: { readonly activatedAt: number; readonly now: number }): Promise<void>;
  /** Claims the start of the run after `watermark`. The holder of a claim may claim again. */
  acquireLease(schedule: Known, watermark: number): Promise<LeaseResult>;
  /**
   * Records that all runs due until `through` are done, which ends a claim. No effect when that is
   * recorded already.
   */
  advance(schedule: Known, through: number): Promise<void>;
  /** Deletes rows untouched for `days` that belong to none of these. */
  prune(others: readonly Known[], days: number): Promise<void>;
}

interface Row extends LaunchPlanId {
  readonly activated_at: Date;
  readonly done_through: Date;
  readonly claimed_ms: number;
}

const COLUMNS = `project, domain, name, version, activated_at, done_through,
  coalesce(greatest(extract(epoch FROM claimed_until - clock_timestamp()) * 1000, 0), 0)::float8 AS claimed_ms`;
const ROW = "project = $1 AND domain = $2 AND name = $3 AND version = $4";
const KEYS = "unnest($1::text[], $2::text[], $3::text[], $4::text[])";

/** Store in the service's own database. `replica` is a UUID of this process alone. */
export function createWatermarkStore({ db, replica, claimMs }: { db: Database; replica: string; claimMs: number }): WatermarkStore {
  return {
    async ensureRows(schedules) {
      const ids = columns(schedules);
      await db.query({
        text: `INSERT INTO progress AS p (project, domain, name, version, activated_at, done_through)
          SELECT project, domain, name, version, activated_at, activated_at
          FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) AS s (project, domain, name, version, activated_at)
          ON CONFLICT (project, domain, name, version) DO UPDATE
            SET activated_at = excluded.activated_at, done_through = excluded.activated_at, claimed_by = NULL, claimed_until = NULL, updated_at = now()
            WHERE p.activated_at < excluded.activated_at`,
        values: [...ids, schedules.map(({ activatedAt }) => new Date(activatedAt))],
      });
      const { rows } = await db.query<Row>({
        text: `SELECT ${COLUMNS} FROM progress WHERE (project, domain, name, version) IN (SELECT * FROM ${KEYS})`,
        values: ids,
      });
      return new Map(rows.map((row) => [scheduleKey(row), watermarkOf(row)]));
    },

    async adoptActivation({ launchPlan, activatedAt }, recorded) {
      await db.query({
        text: `UPDATE progress SET activated_at = $5, claimed_by = NULL, claimed_until = NULL, updated_at = now(),
            done_through = CASE WHEN done_through > $7 THEN $5 ELSE greatest(done_through, $5) END
          WHERE ${ROW} AND activated_at = $6`,
        values: [...idOf(launchPlan), new Date(activatedAt), new Date(recorded.activatedAt), new Date(recorded.now)],
      });
    },

    async acquireLease({ launchPlan, activatedAt }, watermark) {
      const id = idOf(launchPlan);
      const { rowCount } = await db.query({
        name: "claim",
        text: `UPDATE progress SET claimed_by = $7, claimed_until = clock_timestamp() + $8 * interval '1 millisecond', updated_at = now()
          WHERE ${ROW} AND activated_at = $5 AND done_through = $6
            AND (claimed_by IS NULL OR claimed_by = $7 OR claimed_until < clock_timestamp())`,
        values: [...id, new Date(activatedAt), new Date(watermark), replica, claimMs],
      });
      if (rowCount > 0) return { acquired: true };
      const { rows } = await db.query<Row>({ name: "progress", text: `SELECT ${COLUMNS} FROM progress WHERE ${ROW}`, values: id });
      return { acquired: false, watermark: rows[0] && watermarkOf(rows[0]) };
    },

    async advance({ launchPlan, activatedAt }, through) {
      await db.query({
        name: "advance",
        text: `UPDATE progress SET done_through = $6, claimed_by = NULL, claimed_until = NULL, updated_at = now()
          WHERE ${ROW} AND activated_at = $5 AND done_through < $6`,
        values: [...idOf(launchPlan), new Date(activatedAt), new Date(through)],
      });
    },

    async prune(others, days) {
      await db.query({
        text: `DELETE FROM progress WHERE updated_at < now() - $5 * interval '1 day'
          AND (project, domain, name, version) NOT IN (SELECT * FROM ${KEYS})`,
        values: [...columns(others), days],
      });
    },
  };
}

function idOf({ project, domain, name, version }: LaunchPlanId): readonly string[] {
  return [project, domain, name, version];
}

function columns(schedules: readonly Known[]): string[][] {
  const ids = schedules.map(({ launchPlan }) => idOf(launchPlan));
  return [0, 1, 2, 3].map((column) => ids.map((id) => id[column] as string));
}

function watermarkOf({ activated_at, done_through, claimed_ms }: Row): Watermark {
  return { activatedAt: activated_at.getTime(), watermark: done_through.getTime(), leaseRemainingMs: claimed_ms };
}
