import { MAX_PRESIGN_SECONDS } from "@flyte-ts/blobstore";
import { z } from "zod";
import type { ClustersConfig } from "../clusters/index.js";

const settings = z.strictObject({
  /** Streams of executions and logs. */
  live: z
    .strictObject({
      /** Maximum of streams per replica; further ones are rejected. */
      maxStreams: z.number().int().positive().default(20_000),
      /** Maximum of log streams in addition, each with a connection to a data plane. */
      maxLogStreams: z.number().int().positive().default(500),
      /**
       * Poll interval of a watched execution, seconds, since notifications of changes may be lost.
       */
      pollSeconds: z.number().positive().default(10),
      /** Maximum interval between messages to a client, seconds. */
      heartbeatSeconds: z.number().positive().default(30),
      /**
       * Time for which ends of nodes and attempts are awaited after the end of their execution,
       * seconds.
       */
      lingerSeconds: z.number().min(0).default(5),
    })
    .prefault({}),
  remoteData: z
    .strictObject({
      signedUrls: z
        .strictObject({
          /**
           * Adds signed URLs of inputs and outputs to the answers of `GetExecutionData` and its
           * like for nodes and tasks.
           */
          enabled: z.boolean().default(false),
          /** Validity of those URLs, minutes. */
          durationMinutes: z
            .number()
            .positive()
            .max(MAX_PRESIGN_SECONDS / 60)
            .default(3),
        })
        .prefault({}),
      /** Maximum size, bytes, of inputs and outputs that are returned inline; 0 means no limit. */
      maxSizeInBytes: z
        .number()
        .int()
        .min(0)
        .default(2 * 1024 * 1024),
    })
    .prefault({}),
});

export const executionsSettings = settings.shape;
export type ExecutionsConfig = ClustersConfig & z.infer<typeof settings>;
