import { type AuditedChange, methodKey, type FinishAudit } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import { codeName, truncateUtf8 } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { storableText } from "@flyte-ts/execution-state";
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
    const { rows } = await db.query<{ id: bigint }>({
      name: "begin-audit-entry",
      text: `INSERT INTO audit_log (at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport)
        VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10) RETURNING id`,
      values: [
        clock(),
        storableText(identity.subject),
        storableText(identity.clientId ?? ""),
        methodKey(method),
        storableText(project),
        storableText(domain),
        JSON.stringify(identifiers, (_, value: unknown) => (typeof value === "string" ? storableText(value) : value)),
        context.requestId,
        context.peer,
        context.transport,
      ],
    });
    return async (code, message) => {
      try {
        await db.query({
          name: "end-audit-entry",
          text: "UPDATE audit_log SET ended_at = $2, code = $3, message = $4 WHERE id = $1",
          values: [rows[0]?.id, clock(), codeName(code), truncateUtf8(storableText(message), MAX_MESSAGE_BYTES)],
        });
      } catch (error) {
        logger.error({ err: error, method: methodKey(method), code: codeName(code) }, "the end of a change is not in the audit log");
      }
    };
  };
}
