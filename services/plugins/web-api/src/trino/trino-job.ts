import { z } from "zod";

/** A query that Trino has accepted. It runs from the first reading of `next` on. */
export type TrinoJob = z.infer<typeof trinoJob>;

export const trinoJob = z.strictObject({
  queryId: z.string().min(1),
  /**
   * Path of the next answer. Empty when that answer is lost: only the state of the query can be
   * read then.
   */
  next: z.string(),
  /** Table that holds the results until they are complete; empty: the query has no results. */
  table: z.string(),
});
