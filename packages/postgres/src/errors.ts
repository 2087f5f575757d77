import pg from "pg";

/** The constraint that an insert or update would have broken, when the error says so. */
export function isUniqueViolation(error: unknown): { readonly constraint: string } | undefined {
  return error instanceof pg.DatabaseError && error.code === "23505" ? { constraint: error.constraint ?? "" } : undefined;
}

/** Whether the same transaction may succeed when it is tried again: deadlocks and serialization failures. */
export function isTransactionConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** Whether a text was refused because it holds a NUL character, which PostgreSQL cannot store. */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "22021" || error.code === "22P05");
}

/** Whether the database could not be reached or is going down: nothing is wrong with the request. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P|53)/.test(error.code ?? "");
  const code = (error as { code?: string } | undefined)?.code;
  return (
    (code !== undefined && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND)/.test(code)) ||
    (error instanceof Error &&
      /Connection terminated|encountered a connection error|timeout exceeded when trying to connect/.test(error.message))
  );
}
