import type { Query, Queryable } from "@flyte-ts/postgres";
import { sanitizeText } from "@flyte-ts/execution-state";
import { type ClaimedRow, type KeysetPage, type QueueTable, truncateReason } from "../../platform/index.js";
import { nameArrays, phaseNames, type executionIds } from "../../executions/index.js";
import type { CompletedExecution } from "../model/completed-execution.js";

export const DELIVERIES: QueueTable = { name: "notification_deliveries", key: "id", reason: "last_error" };

/** A delivery that this process has claimed. */
export interface ClaimedDelivery extends Delivery, ClaimedRow {
  readonly project: string;
  readonly domain: string;
  readonly executionName: string;
  /** Time since the first attempt, ms. */
  readonly retryingMs: number;
}

/** A message, and the execution that it is about. */
export interface PlannedDelivery {
  readonly execution: CompletedExecution;
  readonly delivery: Delivery;
}

/**
 * Enqueues deliveries. Existing ones stay unchanged, so that each receiver is notified once of an
 * execution.
 */
export async function insertDeliveries(tx: Queryable, planned: readonly PlannedDelivery[]): Promise<void> {
  if (planned.length === 0) return;
  const column = (value: (each: (typeof planned)[number]) => string): string[] => planned.map((each) => sanitizeText(value(each)));
  await tx.query({
    name: "insert-deliveries",
    text: `INSERT INTO notification_deliveries (message_id, project, domain, execution_name, phase, channel, target, content)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
      ON CONFLICT DO NOTHING`,
    values: [
      column(({ delivery }) => delivery.messageId),
      column(({ execution }) => execution.project),
      column(({ execution }) => execution.domain),
      column(({ execution }) => execution.name),
      column(({ execution }) => phaseNames.workflowPhaseName(execution.phase)),
      column(({ delivery }) => delivery.channel),
      column(({ delivery }) => delivery.target),
      column(({ delivery }) => delivery.content),
    ],
  });
}

interface Row {
  id: bigint;
  message_id: string;
  project: string;
  domain: string;
  execution_name: string;
  channel: Channel;
  target: string;
  content: string;
  attempts: number;
  retrying_ms: number;
}

/**
 * Lane of a delivery: all mails share the mail server's, others have one per receiver. A slow one
 * delays only its own lane.
 */
export function partitionKey({ channel, target }: Pick<Delivery, "channel" | "target">): string {
  return channel === "email" ? "email" : target;
}

export interface ClaimOptions {
  readonly limit: number;
  readonly leaseMs: number;
  /** Lanes from which no delivery is claimed; `perPartition` is the maximum for any other lane. */
  readonly excludedPartitions?: readonly string[];
  readonly perPartition?: number;
}

/**
 * Claims deliveries that are due, until the lease expires. Considers only the first thousand, so
 * that a lane with very many messages may delay others for a short time.
 */
export async function claimDeliveries(
  db: Queryable,
  { limit, leaseMs, excludedPartitions = [], perPartition = limit }: ClaimOptions,
): Promise<readonly ClaimedDelivery[]> {
  const { rows } = await db.query<Row>({
    name: "claim-deliveries",
    text: `WITH due AS MATERIALIZED (
        SELECT id, row_number() OVER (PARTITION BY lane ORDER BY available_at, id) AS place
        FROM (
          SELECT id, available_at, CASE channel WHEN 'email' THEN 'email' ELSE target END AS lane FROM notification_deliveries
          WHERE state = 'waiting' AND available_at <= now() AND CASE channel WHEN 'email' THEN 'email' ELSE target END <> ALL ($3::text[])
          ORDER BY available_at, id LIMIT 1000
        ) first
      ), taken AS MATERIALIZED (
        SELECT id FROM notification_deliveries WHERE id IN (SELECT id FROM due WHERE place <= $4) AND state = 'waiting' AND available_at <= now()
        ORDER BY available_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
      )
      UPDATE notification_deliveries d SET available_at = now() + $2 * interval '1 millisecond', attempts = d.attempts + 1
      FROM taken WHERE d.id = taken.id
      RETURNING d.id, d.message_id, d.project, d.domain, d.execution_name, d.channel, d.target, d.content, d.attempts,
        (extract(epoch FROM now() - d.tried_since) * 1000)::float8 AS retrying_ms`,
    values: [limit, leaseMs, excludedPartitions, perPartition],
  });
  return rows.map((row) => ({
    id: row.id,
    messageId: row.message_id,
    project: row.project,
    domain: row.domain,
    executionName: row.execution_name,
    channel: row.channel,
    target: row.target,
    content: row.content,
    attempts: row.attempts,
    retryingMs: row.retrying_ms,
  }));
}

export async function markSent(db: Queryable, id: bigint): Promise<void> {
  await db.query({
    name: "mark-delivery-sent",
    text: "UPDATE notification_deliveries SET state = 'sent', ended_at = now(), last_error = '' WHERE id = $1 AND state = 'waiting'",
    values: [id],
  });
}

export async function deadLetterDelivery(db: Queryable, id: bigint, reason: string): Promise<void> {
  await db.query({
    name: "give-up-delivery",
    text: "UPDATE notification_deliveries SET state = 'given_up', ended_at = now(), last_error = $2 WHERE id = $1 AND state = 'waiting'",
    values: [id, truncateReason(reason)],
  });
}

/** Deletes the deliveries of executions, except pending ones, which are still sent. */
export async function deleteFinishedDeliveries(tx: Queryable, executions: readonly executionIds.ExecutionName[]): Promise<void> {
  await tx.query({
    name: "delete-finished-deliveries",
    text: `DELETE FROM notification_deliveries n USING unnest($1::text[], $2::text[], $3::text[]) AS e(project, domain, name)
      WHERE n.project = e.project AND n.domain = e.domain AND n.execution_name = e.name AND n.state <> 'waiting'`,
    values: nameArrays(executions),
  });
}

export interface DeliveryRow {
  id: bigint;
  message_id: string;
  project: string;
  domain: string;
  execution_name: string;
  phase: string;
  channel: string;
  target: string;
  state: "waiting" | "sent" | "given_up";
  attempts: number;
  last_error: string;
  created_at: Date;
  available_at: Date;
  ended_at: Date | null;
}

export interface DeliveryFilter {
  readonly project: string;
  readonly domain: string;
  /** Empty: all executions. */
  readonly executionName: string;
  readonly state: string | undefined;
  readonly page: KeysetPage;
}

/** Lists deliveries, newest first. */
export async function listDeliveryRows(
  db: Queryable,
  { project, domain, executionName, state, page }: DeliveryFilter,
): Promise<readonly DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>({
    text: `SELECT id, message_id, project, domain, execution_name, phase, channel, target, state, attempts, last_error, created_at,
        available_at, ended_at
      FROM notification_deliveries
      WHERE project = $1 AND domain = $2 AND ($3 = '' OR execution_name = $3) AND ($4::text IS NULL OR state = $4)
        AND ($5::bigint IS NULL OR id < $5)
      ORDER BY id DESC LIMIT $6`,
    values: [project, domain, executionName, state, page.before, page.limit],
  });
  return rows;
}

/**
 * Makes a delivery due now, also one in the dead letters, unless it is sent. Returns its state;
 * undefined when there is none.
 */
export async function retryDelivery(
  db: Queryable,
  { project, domain, messageId }: { readonly project: string; readonly domain: string; readonly messageId: string },
): Promise<DeliveryRow["state"] | undefined> {
  const { rows } = await db.query<{ state: DeliveryRow["state"] }>({
    text: `UPDATE notification_deliveries SET
        state = CASE WHEN state = 'given_up' THEN 'waiting' ELSE state END,
        ended_at = CASE WHEN state = 'given_up' THEN NULL ELSE ended_at END,
        tried_since = now(), available_at = least(available_at, now())
      WHERE project = $1 AND domain = $2 AND message_id = $3 RETURNING state`,
    values: [project, domain, messageId],
  });
  return rows[0]?.state;
}

/** Counts the pending deliveries by channel. */
export const PENDING_DELIVERIES: Query = {
  name: "pending-deliveries",
  text: `SELECT channel AS kind, count(*)::int AS entries, extract(epoch FROM now() - min(created_at))::float8 AS age
    FROM notification_deliveries WHERE state = 'waiting' GROUP BY channel`,
};

export type Channel = "email" | "slack" | "webhook";

/** A message to one receiver. */
export interface Delivery {
  /**
   * Idempotency key: the same whenever the messages about this execution are planned again, so that
   * receivers recognize duplicates.
   */
  readonly messageId: string;
  readonly channel: Channel;
  /** A mail address, `webhook:` and a name of the configuration, or a URL. */
  readonly target: string;
  /** Payload: JSON with `subject` and `html` for a mail, else the body itself. */
  readonly content: string;
}
