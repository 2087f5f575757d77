import { httpPolicySettings, logLevel, opsSettings, port } from "@flyte-ts/config";
import { z } from "zod";

export const blobstoreConfig = z.strictObject({
  /** Directory of all data; created if missing. Used by one process at a time. */
  dataDir: z.string().min(1),
  /** Address to listen on; `0.0.0.0` is every IPv4 interface. */
  host: z.string().default("127.0.0.1"),
  /** 0 takes any free port. */
  port: port.default(30_002),
  ...httpPolicySettings,
  /** The only key pair that clients may sign with. */
  accessKeyId: z.string().min(3),
  /** Secret of that access key, with which requests are signed. */
  secretAccessKey: z.string().min(8),
  /** Buckets to create at the start. */
  buckets: z.array(z.string()).default([]),
  logLevel,
  ops: opsSettings(10_262),
});
