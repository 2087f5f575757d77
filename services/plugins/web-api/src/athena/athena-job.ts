import { z } from "zod";

/** A started query. */
export type AthenaJob = z.infer<typeof athenaJob>;

export const athenaJob = z.strictObject({ queryId: z.string().min(1) });
