import { MAX_PRESIGN_SECONDS } from "@flyte-ts/blobstore";
import { presigningBlobStoreSettings } from "@flyte-ts/config";
import { z } from "zod";

/** Seconds; stores sign URLs for at most a week. */
const maxExpiresInSeconds = z.number().positive().max(MAX_PRESIGN_SECONDS).default(3600);

const settings = z.strictObject({
  storage: z
    .strictObject({
      /**
       * Container of metadata: `s3://bucket`, `gs://bucket`, `abfs://container` or
       * `file:///folder`.
       */
      container: z.string().default("s3://my-s3-bucket"),
      /** Prefix of admin's own objects in the container. */
      metadataPrefix: z.string().default("metadata"),
      /** Prefix of propeller's objects of executions. */
      propellerPrefix: z.string().default("metadata/propeller"),
      /** Prefix of task outputs that are larger than a literal, unless the request sets another. */
      rawOutputPrefix: z.string().default("s3://my-s3-bucket/data"),
      ...presigningBlobStoreSettings,
    })
    .prefault({}),
  /** Links with which clients upload to and download from the blob store. */
  dataProxy: z
    .strictObject({
      upload: z
        .strictObject({
          /** Maximum validity of an upload link, seconds; the default of requests without one. */
          maxExpiresInSeconds,
          /** Length, in characters, of the random name of an upload whose request names no file. */
          defaultFileNameLength: z.number().int().positive().default(20),
          /** Folder of uploads below `storage.container`; empty: the container itself. */
          storagePrefix: z.string().default(""),
        })
        .prefault({}),
      download: z
        .strictObject({
          /** Maximum validity of a download link, seconds; the default of requests without one. */
          maxExpiresInSeconds,
        })
        .prefault({}),
    })
    .prefault({}),
  /** Connectors that admin lists for clients. */
  agents: z
    .strictObject({
      /** `host:port` in plaintext, `https://host:port` over TLS. */
      endpoints: z.array(z.string().min(1)).default([]),
      /** Timeout of a query of one connector, ms. */
      timeoutMs: z.number().int().positive().default(5_000),
    })
    .prefault({}),
});

export const platformSettings = settings.shape;
export type PlatformConfig = z.infer<typeof settings>;
