import { z } from "zod";

/** Both parts of a handle of HiveServer2, hexadecimal. It gives no access without credentials. */
const handle = z.string().regex(/^[0-9a-f]{64}$/);

/** A session of HiveServer2 and the statement that runs in it. */
export type HiveJob = z.infer<typeof hiveJob>;

export const hiveJob = z.strictObject({
  session: handle,
  /** Handle of the statement; empty: it was about to be started. */
  operation: handle.or(z.literal("")),
  /** Index of the statement among those of the query. */
  step: z.int().min(0),
  /** Number of statements of the query. */
  steps: z.int().min(1),
});

/** Identifier of a handle as HiveServer2 writes it in its logs. */
export function handleId(hex: string): string {
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
