import type { DescMessage } from "@bufbuild/protobuf";
import { type AuditedChange, type FinishAudit, methodKey } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import { codeName, truncateUtf8 } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { sanitizeText } from "@flyte-ts/execution-state";
import { identifiersOf, scopeOf } from "./identifiers.js";
import { finishAuditEntry, insertAuditEntry } from "../store/audit-log.js";

export interface AuditDeps {
  readonly db: Queryable;
  readonly clock: () => Date;
  readonly logger: Logger;
}

const MAX_MESSAGE_BYTES = 2_000;

/**
 * Writes an audit entry before the call and its result after it. A failed first write rejects the
 * call; a missing result means that the outcome is unknown.
 */
export function createAuditLog({ db, clock, logger }: AuditDeps): (change: AuditedChange) => Promise<FinishAudit> {
  return async ({ identity, method, request, context }) => {
    const identifiers = identifiersOf(method.input, request);
    const { project, domain } = scopeOf(identifiers);
    const encode = (value: object): string =>
      JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? sanitizeText(each) : each));
    const entryId = await insertAuditEntry(db, {
      at: clock(),
      subject: sanitizeText(identity.subject),
      clientId: sanitizeText(identity.clientId ?? ""),
      method: methodKey(method),
      project: sanitizeText(project),
      domain: sanitizeText(domain),
      identifiers: encode(identifiers),
      requestId: context.requestId,
      peer: context.peer,
      transport: context.transport,
    });
    return async ({ code, message, response }) => {
      try {
        await finishAuditEntry(db, entryId, {
          at: clock(),
          code: codeName(code),
          message: truncateUtf8(sanitizeText(message), MAX_MESSAGE_BYTES),
          created: encode(createdBy(method.output, { identifiers, response })),
        });
      } catch (error) {
        logger.error({ err: error, method: methodKey(method), code: codeName(code) }, "cannot write the result of a call to the audit log");
      }
    };
  };
}

/** Identifiers of an object that a call has created under another name than that of its request. */
function createdBy(
  schema: DescMessage,
  { identifiers, response }: { readonly identifiers: Readonly<Record<string, unknown>>; readonly response: unknown },
): object {
  if (typeof response !== "object" || response === null) return {};
  const { id } = identifiersOf(schema, response);
  const isNamed = typeof id !== "object" || id === null || !("name" in id) || id.name === identifiers["name"];
  return isNamed ? {} : { created: id };
}
