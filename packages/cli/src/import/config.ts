import { z } from "zod";

const list = z.union([z.array(z.string()), z.string().transform((text) => text.split(",").filter((part) => part !== ""))]);

/** Flags of `flyte-ts import`. */
export const importConfigSchema = z.strictObject({
  /**
   * gRPC address of the source admin, `host:port` or with `http://` or `https://`; only its
   * published API is used.
   */
  from: z.string(),
  /** gRPC address of the target admin. */
  to: z.string(),
  /**
   * Files with an access token for each admin that needs one; read again for each call, since
   * tokens are renewed.
   */
  fromTokenFile: z.string().optional(),
  toTokenFile: z.string().optional(),
  /** Projects to import; absent: all. */
  projects: list.optional(),
  domains: list.optional(),
  /** Also import ended executions, with their nodes and attempts. */
  executions: z.boolean().default(false),
  /**
   * Launch plans to activate as in the source: those without a schedule, all, or none. With `all`
   * schedules fire in the target and, until it is stopped, in the source.
   */
  activate: z.enum(["unscheduled", "all", "none"]).default("unscheduled"),
  /** Number of concurrent calls. */
  concurrency: z.number().int().min(1).max(64).default(8),
  /** File to which the report is also written as JSON. */
  report: z.string().optional(),
});

export type ImportConfig = z.infer<typeof importConfigSchema>;
