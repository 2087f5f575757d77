import { headerKeySchema, providerSchema, roleSchema } from "@flyte-ts/auth";
import {
  blobStoreSettings,
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  loopbackUnlessAuthenticated,
  logLevel,
  openToNetwork,
  opsSettings,
  port,
} from "@flyte-ts/config";
import { z } from "zod";

/**
 * Access to the catalog: with `required` a token needs the role `engine` in the project and domain
 * of the dataset.
 */
const authSchema = z.strictObject({
  /**
   * `open`: callers are not authenticated. `required`: every call needs a token whose holder has
   * the role `engine`.
   */
  mode: z.enum(["open", "required"]).default("open"),
  /** Metadata key that may carry the token besides `authorization`. */
  headerKey: headerKeySchema,
  /** Accepted issuers; admin's built-in issuer is named by admin's `auth.publicUrl`. */
  providers: z.array(providerSchema).default([]),
  /**
   * Role bindings of the holders of tokens. Default: propeller may read and write every dataset.
   */
  roles: z.array(roleSchema).prefault([{ subject: "flytepropeller", role: "engine" }]),
});

export type CatalogAuth = z.infer<typeof authSchema>;

const settings = z.strictObject({
  auth: authSchema.prefault({}),
  logLevel,
  server: z
    .strictObject({
      /** Address on which the gRPC port listens; `0.0.0.0` is every IPv4 interface. */
      host: z.string().default("127.0.0.1"),
      /** Port for gRPC. */
      grpcPort: port.default(8081),
      /** Maximum size of a request, which carries outputs, bytes. */
      maxMessageBytes: z
        .number()
        .int()
        .positive()
        .default(16 * 1024 * 1024),
      openToNetwork,
      ...httpPolicySettings,
      drain: drainSettings,
    })
    .prefault({}),
  ops: opsSettings(10258),
  database: databaseSettings({ name: "datacatalog", maxConnections: 10 }),
  storage: z
    .strictObject({
      /**
       * Address for large outputs: `s3://bucket`, `gs://bucket`, `abfs://container` or
       * `file:///folder`.
       */
      container: z.string().default("s3://my-s3-bucket"),
      /** Folder of large outputs below `container`. */
      prefix: z.string().default("metadata"),
      /** Maximum size of outputs in the database, bytes; larger ones go to the blob store. */
      inlineBytes: z
        .number()
        .int()
        .min(0)
        .default(16 * 1024),
      ...blobStoreSettings,
    })
    .prefault({}),
  reservations: z
    .strictObject({
      /** Number of heartbeats without renewal after which a reservation ends. */
      heartbeatGracePeriodMultiplier: z.number().int().positive().default(3),
      /** Maximum heartbeat interval that an owner may request, ms. */
      maxHeartbeatMs: z.number().int().positive().default(10_000),
    })
    .prefault({}),
});

/**
 * Configuration of the data catalog. Defaults are those of Flyte 1.16 where it has the same
 * setting.
 */
export const datacatalogConfigSchema = settings
  .refine(...loopbackUnlessAuthenticated)
  .refine(({ auth }) => auth.mode === "open" || auth.providers.length > 0, {
    path: ["auth", "providers"],
    message: "auth.mode is required, so configure at least one of auth.providers",
  });

export type DatacatalogConfig = z.infer<typeof datacatalogConfigSchema>;
