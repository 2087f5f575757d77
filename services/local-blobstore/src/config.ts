import { z } from "zod";

export const blobstoreConfig = z.strictObject({
  /** Folder that holds everything; created when it is missing. One process per folder. */
  dataDir: z.string().min(1),
  host: z.string().default("127.0.0.1"),
  /** 0 takes any free port. */
  port: z.int().min(0).max(65_535).default(30_002),
  /** The one key that requests are signed with. */
  accessKeyId: z.string().min(3),
  secretAccessKey: z.string().min(8),
  /** Buckets that are there from the start. */
  buckets: z.array(z.string()).default([]),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  ops: z.strictObject({ host: z.string().default("127.0.0.1"), port: z.int().min(0).max(65_535).default(10_262) }).prefault({}),
});
