import pg from "pg";

/** Returns the constraint that an insert or update would have violated, when the error names it. */
export function isUniqueViolation(error: unknown): { readonly constraint: string } | undefined {
  return error instanceof pg.DatabaseError && error.code === "23505" ? { constraint: error.constraint ?? "" } : undefined;
}

/** True when a retry of the transaction may succeed: deadlocks and serialization failures. */
export function isTransactionConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** True when a lock was not granted in time, or only at the price of a deadlock. */
export function isLockConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "55P03" || error.code === "40P01");
}

/** True when a text was refused for a NUL character, which PostgreSQL cannot store. */
export function isInvalidText(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "22021" || error.code === "22P05");
}

/** Codes of errors of the network and of name lookups. */
const NETWORK_ERROR = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN)/;
/** Messages of pg, whose errors have no codes. */
const LOST_CONNECTION = /Connection terminated|encountered a connection error|timeout exceeded when trying to connect|^timeout expired$/;

/**
 * True when the database was unreachable or is shutting down: the request itself is not at fault.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P|53)/.test(error.code ?? "");
  const code = (error as { code?: string } | undefined)?.code;
  if (code !== undefined && NETWORK_ERROR.test(code)) return true;
  return isAnswerMissing(error) || (error instanceof Error && LOST_CONNECTION.test(error.message));
}

/**
 * True when a statement got no answer in time. An answer may still come, so that its connection
 * cannot be used any more.
 */
export function isAnswerMissing(error: unknown): error is Error {
  return error instanceof Error && error.message === "Query read timeout";
}
