import { httpPolicySettings, logLevel, opsSettings, port } from "@flyte-ts/config";
import { z } from "zod";

export const blobstoreConfig = z.strictObject({
  /** Folder that holds everything; created when it is missing. One process per folder. */
  dataDir: z.string().min(1),
  host: z.string().default("127.0.0.1"),
  /** 0 takes any free port. */
  port: port.default(30_002),
  ...httpPolicySettings,
  /** The one key that requests are signed with. */
  accessKeyId: z.string().min(3),
  secretAccessKey: z.string().min(8),
  /** Buckets that are there from the start. */
  buckets: z.array(z.string()).default([]),
  logLevel,
  ops: opsSettings(10_262),
});
