import { z } from "zod";

const list = z.union([z.array(z.string()), z.string().transform((text) => text.split(",").filter((part) => part !== ""))]);

/** Flags of `flyte-ts import`. */
export const importConfigSchema = z.strictObject({
  /** gRPC address of the admin that is read, `host:port` or with `http://` or `https://`; only its published API is used. */
  from: z.string(),
  /** The same of the admin that is written. */
  to: z.string(),
  /** Files with an access token for each, where it asks for one; read again for each call, for tokens are renewed. */
  fromTokenFile: z.string().optional(),
  toTokenFile: z.string().optional(),
  /** Only these; absent: all. */
  projects: list.optional(),
  domains: list.optional(),
  /** Also what has run: executions that have ended, with their nodes and attempts. */
  executions: z.boolean().default(false),
  /**
   * Which launch plans become active as they are in the source: those without a schedule, all, or none. With `all` schedules
   * fire, here and, until it is stopped, there.
   */
  activate: z.enum(["unscheduled", "all", "none"]).default("unscheduled"),
  /** Calls at once. */
  concurrency: z.number().int().min(1).max(64).default(8),
  /** Write the report as JSON to this file too. */
  report: z.string().optional(),
});

export type ImportConfig = z.infer<typeof importConfigSchema>;
