import type { Queryable } from "@flyte-ts/postgres";
import { type ClaimedRow, type KeysetPage, type QueueTable, truncateReason } from "../../platform/index.js";
import { triggerColumns, type TriggerName, type TriggerRow } from "./triggers.js";

export const FIRINGS: QueueTable = { name: "trigger_firings", key: "id", reason: "reason" };

/** A firing that this process has claimed. */
export interface ClaimedFiring extends ClaimedRow {
  /**
   * Row at the time of the claim; decoded during processing, so that an invalid one does not block
   * the others.
   */
  readonly trigger: TriggerRow;
  readonly source:
    | { readonly kind: "execution"; readonly rowId: bigint; readonly project: string; readonly domain: string; readonly name: string }
    | { readonly kind: "webhook"; readonly deliveryId: string; readonly body: Uint8Array };
  readonly at: Date;
  /** Execution to start. */
  readonly execution: { readonly project: string; readonly domain: string; readonly name: string };
  /** Time since the first attempt, ms. */
  readonly ageMs: number;
}

interface Row extends TriggerRow {
  firing_id: bigint;
  source_execution_id: bigint | null;
  source_project: string;
  source_domain: string;
  source_name: string;
  delivery_id: string;
  body: Uint8Array | null;
  happened_at: Date;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  attempts: number;
  age_ms: number;
}

/** Claims firings that are due, until the lease expires. */
export async function claimFirings(db: Queryable, limit: number, leaseMs: number): Promise<readonly ClaimedFiring[]> {
  const { rows } = await db.query<Row>({
    name: "claim-firings",
    text: `WITH taken AS MATERIALIZED (
        SELECT id FROM trigger_firings WHERE state = 'waiting' AND available_at <= now() ORDER BY available_at, id LIMIT $1
        FOR UPDATE SKIP LOCKED
      )
      UPDATE trigger_firings f SET available_at = now() + $2 * interval '1 millisecond', attempts = f.attempts + 1
      FROM taken, triggers t WHERE f.id = taken.id AND t.id = f.trigger_id
      RETURNING ${triggerColumns}, f.id AS firing_id, f.source_execution_id, f.source_project, f.source_domain, f.source_name,
        f.delivery_id, f.body, f.happened_at, f.execution_project, f.execution_domain, f.execution_name, f.attempts,
        (extract(epoch FROM now() - f.created_at) * 1000)::float8 AS age_ms`,
    values: [limit, leaseMs],
  });
  return rows.map((row) => ({
    id: row.firing_id,
    trigger: row,
    source:
      row.source_execution_id === null
        ? { kind: "webhook", deliveryId: row.delivery_id, body: row.body ?? new Uint8Array() }
        : {
            kind: "execution",
            rowId: row.source_execution_id,
            project: row.source_project,
            domain: row.source_domain,
            name: row.source_name,
          },
    at: row.happened_at,
    execution: { project: row.execution_project, domain: row.execution_domain, name: row.execution_name },
    attempts: row.attempts,
    ageMs: row.age_ms,
  }));
}

/** Completes a firing and deletes a webhook's body. */
export async function endFiring(
  db: Queryable,
  id: bigint,
  { state, reason }: { state: "started" | "refused"; reason: string },
): Promise<void> {
  await db.query({
    name: "end-firing",
    text: "UPDATE trigger_firings SET state = $2, reason = $3, body = NULL, ended_at = now() WHERE id = $1 AND state = 'waiting'",
    values: [id, state, truncateReason(reason)],
  });
}

/** Stores firings; repeated ones, of the same trigger and execution, change nothing. */
export async function insertFirings(tx: Queryable, firings: readonly FiringInsert[]): Promise<void> {
  await tx.query({
    name: "insert-firings",
    text: `INSERT INTO trigger_firings (trigger_id, cause, source_execution_id, source_project, source_domain, source_name, happened_at,
        execution_project, execution_domain, execution_name, depth, state, reason, ended_at)
      SELECT given.*, CASE WHEN given.state = 'refused' THEN now() END
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::text[],
        $10::text[], $11::int[], $12::text[], $13::text[]) AS given (trigger_id, cause, source_execution_id, source_project,
        source_domain, source_name, happened_at, execution_project, execution_domain, execution_name, depth, state, reason)
      ON CONFLICT DO NOTHING`,
    values: FIRING_COLUMNS.map((column) => firings.map((firing) => firing[column])),
  });
}

export type FiringInsert = Readonly<Record<(typeof FIRING_COLUMNS)[number], unknown>>;

const FIRING_COLUMNS = [
  "triggerId",
  "cause",
  "sourceId",
  "project",
  "domain",
  "name",
  "at",
  "targetProject",
  "targetDomain",
  "startedName",
  "depth",
  "state",
  "reason",
] as const;

export interface WebhookFiring {
  readonly triggerId: bigint;
  readonly idempotencyKey: string;
  readonly deliveryId: string;
  readonly body: Uint8Array;
  readonly at: Date;
  /** Execution that the firing starts. */
  readonly started: TriggerName;
  /** Maximum of firings of the trigger within a minute. */
  readonly maxPerMinute: number;
}

/** Stores a firing unless it is a duplicate, or the trigger has fired too often. */
export async function insertWebhookFiring(
  db: Queryable,
  { triggerId, idempotencyKey, deliveryId, body, at, started, maxPerMinute }: WebhookFiring,
): Promise<"created" | "duplicate" | "rate-limited"> {
  const { rowCount } = await db.query({
    name: "insert-webhook-firing",
    text: `INSERT INTO trigger_firings (trigger_id, cause, delivery_id, body, happened_at, execution_project, execution_domain,
        execution_name, depth)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1
      WHERE (SELECT count(*) FROM trigger_firings WHERE trigger_id = $1 AND created_at > now() - interval '1 minute') < $9
      ON CONFLICT DO NOTHING`,
    values: [triggerId, idempotencyKey, deliveryId, body, at, started.project, started.domain, started.name, maxPerMinute],
  });
  if (rowCount === 1) return "created";
  return (await isDuplicate(db, triggerId, idempotencyKey)) ? "duplicate" : "rate-limited";
}

async function isDuplicate(db: Queryable, rowId: bigint, idempotencyKey: string): Promise<boolean> {
  const { rows } = await db.query({
    name: "find-webhook-firing",
    text: "SELECT 1 FROM trigger_firings WHERE trigger_id = $1 AND cause = $2",
    values: [rowId, idempotencyKey],
  });
  return rows.length > 0;
}

export async function countPendingFirings(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: "SELECT count(*)::int AS count FROM trigger_firings WHERE state = 'waiting'",
  });
  return rows[0]?.count ?? 0;
}

export interface FiringRow extends TriggerName {
  id: bigint;
  source_execution_id: bigint | null;
  source_project: string;
  source_domain: string;
  source_name: string;
  delivery_id: string;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  depth: number;
  state: "waiting" | "started" | "refused";
  reason: string;
  attempts: number;
  created_at: Date;
  ended_at: Date | null;
}

export interface FiringFilter {
  readonly project: string;
  readonly domain: string;
  /** Name of the trigger; empty: all. */
  readonly name: string;
  readonly state: string | undefined;
  readonly page: KeysetPage;
}

/** Lists firings, newest first. */
export async function listFirings(db: Queryable, { project, domain, name, state, page }: FiringFilter): Promise<readonly FiringRow[]> {
  const { rows } = await db.query<FiringRow>({
    text: `SELECT f.*, t.project, t.domain, t.name FROM trigger_firings f JOIN triggers t ON t.id = f.trigger_id
      WHERE t.project = $1 AND t.domain = $2 AND ($3 = '' OR t.name = $3) AND ($4::text IS NULL OR f.state = $4)
        AND ($5::bigint IS NULL OR f.id < $5)
      ORDER BY f.id DESC LIMIT $6`,
    values: [project, domain, name, state, page.before, page.limit],
  });
  return rows;
}
