import { type AuditedChange, methodKey, type FinishAudit } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import { codeName, truncateUtf8 } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { sanitizeText } from "@flyte-ts/execution-state";
import { identifiersOf, scopeOf } from "./identifiers.js";

export interface AuditDeps {
  readonly db: Queryable;
  readonly clock: () => Date;
  readonly logger: Logger;
}

const MAX_MESSAGE_BYTES = 2_000;

/**
 * Writes an audit entry before the call and its result after it. A failed first write rejects the call; a missing
 * result means that the outcome is unknown.
 */
export function createAuditLog({ db, clock, logger }: AuditDeps): (change: AuditedChange) => Promise<FinishAudit> {
  return async ({ identity, method, request, context }) => {
    const identifiers = identifiersOf(method.input, request);
    const { project, domain } = scopeOf(identifiers);
    const entryId = await insertAuditEntry(db, {
      at: clock(),
      subject: sanitizeText(identity.subject),
      clientId: sanitizeText(identity.clientId ?? ""),
      method: methodKey(method),
      project: sanitizeText(project),
      domain: sanitizeText(domain),
      identifiers: JSON.stringify(identifiers, (_, value: unknown) => (typeof value === "string" ? sanitizeText(value) : value)),
      requestId: context.requestId,
      peer: context.peer,
      transport: context.transport,
    });
    return async (code, message) => {
      try {
        await finishAuditEntry(db, entryId, {
          at: clock(),
          code: codeName(code),
          message: truncateUtf8(sanitizeText(message), MAX_MESSAGE_BYTES),
        });
      } catch (error) {
        logger.error({ err: error, method: methodKey(method), code: codeName(code) }, "the end of a change is not in the audit log");
      }
    };
  };
}

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
async function insertAuditEntry(db: Queryable, entry: NewAuditEntry): Promise<bigint | undefined> {
  const { at, subject, clientId, method, project, domain, identifiers, requestId, peer, transport } = entry;
  const { rows } = await db.query<{ id: bigint }>({
    name: "begin-audit-entry",
    text: `INSERT INTO audit_log (at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport)
      VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10) RETURNING id`,
    values: [at, subject, clientId, method, project, domain, identifiers, requestId, peer, transport],
  });
  return rows[0]?.id;
}

/** Stores the result of a call. */
async function finishAuditEntry(
  db: Queryable,
  id: bigint | undefined,
  { at, code, message }: { readonly at: Date; readonly code: string; readonly message: string },
): Promise<void> {
  await db.query({
    name: "end-audit-entry",
    text: "UPDATE audit_log SET ended_at = $2, code = $3, message = $4 WHERE id = $1",
    values: [id, at, code, message],
  });
}
