import { type Queryable, textArray } from "@flyte-ts/postgres";
import type { KeysetPage } from "../../platform/index.js";

export interface NewAuditEntry {
  readonly at: Date;
  readonly subject: string;
  readonly clientId: string;
  readonly method: string;
  readonly project: string;
  readonly domain: string;
  /** JSON of the identifiers in the request. */
  readonly identifiers: string;
  readonly requestId: string;
  readonly peer: string;
  readonly transport: string;
}

/** Stores the begin of a call and returns the id of its entry. */
export async function insertAuditEntry(db: Queryable, entry: NewAuditEntry): Promise<bigint | undefined> {
  const { at, subject, clientId, method, project, domain, identifiers, requestId, peer, transport } = entry;
  const { rows } = await db.query<{ id: bigint }>({
    name: "begin-audit-entry",
    text: `INSERT INTO audit_log (at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport)
      VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10) RETURNING id`,
    values: [at, subject, clientId, method, project, domain, identifiers, requestId, peer, transport],
  });
  return rows[0]?.id;
}

/** Stores the result of a call; `created` is JSON that is added to its identifiers. */
export async function finishAuditEntry(
  db: Queryable,
  id: bigint | undefined,
  { at, code, message, created = "{}" }: { readonly at: Date; readonly code: string; readonly message: string; readonly created?: string },
): Promise<void> {
  await db.query({
    name: "end-audit-entry",
    text: "UPDATE audit_log SET ended_at = $2, code = $3, message = $4, identifiers = identifiers || $5::jsonb WHERE id = $1",
    values: [id, at, code, message, created],
  });
}

/** Stores entries of actions that have succeeded in the same transaction. */
export async function insertFinishedAuditEntries(
  tx: Queryable,
  entries: readonly (NewAuditEntry & { readonly message: string })[],
): Promise<void> {
  const texts = (value: (entry: (typeof entries)[number]) => string) => textArray(entries.map(value));
  await tx.query({
    name: "insert-finished-audit-entries",
    text: `INSERT INTO audit_log (at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport, ended_at, code, message)
      SELECT at, subject, client_id, method, project, domain, identifiers::jsonb, request_id, peer, transport, at, 'OK', message
      FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[])
        AS e(at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport, message)`,
    values: [
      entries.map(({ at }) => at),
      texts(({ subject }) => subject),
      texts(({ clientId }) => clientId),
      texts(({ method }) => method),
      texts(({ project }) => project),
      texts(({ domain }) => domain),
      texts(({ identifiers }) => identifiers),
      texts(({ requestId }) => requestId),
      texts(({ peer }) => peer),
      texts(({ transport }) => transport),
      texts(({ message }) => message),
    ],
  });
}

export interface AuditRow {
  id: bigint;
  at: Date;
  subject: string;
  client_id: string;
  method: string;
  project: string;
  domain: string;
  identifiers: unknown;
  request_id: string;
  peer: string;
  transport: string;
  ended_at: Date | null;
  code: string | null;
  message: string;
}

/** Lists entries of the audit log, newest first; an empty field of the filter matches all. */
export async function listAuditRows(
  db: Queryable,
  filter: { readonly project: string; readonly domain: string; readonly subject: string },
  page: KeysetPage,
): Promise<readonly AuditRow[]> {
  const where = ["($1::bigint IS NULL OR id < $1)"];
  const values: unknown[] = [page.before, page.limit];
  for (const [column, value] of Object.entries(filter)) {
    if (value === "") continue;
    values.push(value);
    where.push(`${column} = $${values.length}`);
  }
  const { rows } = await db.query<AuditRow>({
    text: `SELECT * FROM audit_log WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT $2`,
    values,
  });
  return rows;
}

/** Deletes the oldest entries of the audit log from before a time; returns their number. */
export async function deleteAuditEntriesBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: "prune-audit-log",
    text: `DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    values: [before, limit],
  });
  return rowCount;
}
