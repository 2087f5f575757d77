import { z } from "zod";

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);

/** The data catalog's configuration. Defaults are those of Flyte 1.16 where it has the same setting. */
export const datacatalogConfigSchema = z.strictObject({
  logLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  server: z
    .strictObject({
      host: z.string().default("127.0.0.1"),
      grpcPort: z.number().int().min(0).max(65535).default(8081),
      /** Largest request, bytes: outputs travel in it. */
      maxMessageBytes: z
        .number()
        .int()
        .positive()
        .default(16 * 1024 * 1024),
      /** Callers are not asked who they are; beyond this machine that must be wanted. */
      openToNetwork: z.boolean().default(false),
    })
    .refine(({ host, openToNetwork }) => openToNetwork || isLoopback(host), {
      path: ["host"],
      message: "there is no authentication, so only a loopback address is served unless openToNetwork is true",
    })
    .prefault({}),
  ops: z.strictObject({ host: z.string().default("127.0.0.1"), port: z.number().int().min(0).max(65535).default(10258) }).prefault({}),
  database: z
    .strictObject({
      /** Made at start when the server has no database of this name. */
      url: z.string().default("postgresql://postgres@127.0.0.1:5432/datacatalog"),
      maxConnections: z.number().int().positive().default(10),
      /** Folder of the numbered SQL files; by default the one beside the program. */
      migrations: z.string().optional(),
    })
    .prefault({}),
  storage: z
    .strictObject({
      /** Where large outputs go: `s3://bucket` or `file:///folder`. */
      container: z.string().default("s3://my-s3-bucket"),
      prefix: z.string().default("metadata"),
      /** Outputs up to this size stand in the database, bytes. */
      inlineBytes: z
        .number()
        .int()
        .min(0)
        .default(16 * 1024),
      s3: z
        .strictObject({
          /** Address of the service; absent: AWS itself. */
          endpoint: z.string().optional(),
          region: z.string().default("us-east-1"),
          /** Absent: the credentials of the environment. */
          accessKeyId: z.string().optional(),
          secretAccessKey: z.string().optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  reservations: z
    .strictObject({
      /** A reservation ends so many heartbeats after the last one. */
      heartbeatGracePeriodMultiplier: z.number().int().positive().default(3),
      /** Longest interval that an owner gets, however long a one it asks for. */
      maxHeartbeatMs: z.number().int().positive().default(10_000),
    })
    .prefault({}),
});

export type DatacatalogConfig = z.infer<typeof datacatalogConfigSchema>;
