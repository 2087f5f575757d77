import { MAX_PRESIGN_SECONDS } from "@flyte-ts/blobstore";
import { z } from "zod";
import type { ClustersConfig } from "../clusters/index.js";

const executionQueue = z.strictObject({
  /** Name or ARN of a job queue of AWS Batch. */
  dynamic: z.string().min(1),
  /** Tags by which executions choose the queue. */
  attributes: z.array(z.string().min(1)).min(1),
});

const settings = z.strictObject({
  /**
   * Job queues of AWS Batch for the tasks of executions; names as in Flyte's `queues`. An execution
   * gets the queue of its EXECUTION_QUEUE attributes' first known tag, else of its domain's.
   */
  queues: z
    .strictObject({
      /** Queues, with the tags by which executions select them. */
      executionQueues: z.array(executionQueue).default([]),
      /** Tags by domain; the empty domain stands for all others. */
      workflowConfigs: z
        .array(
          z.strictObject({
            /** Domain; empty: all that have no entry. */
            domain: z.string().default(""),
            /** Tags of the queues that its executions may use. */
            tags: z.array(z.string().min(1)).default([]),
          }),
        )
        .default([]),
    })
    .prefault({}),
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
       * Time for which terminal events of nodes and attempts are awaited after the end of their
       * execution, seconds.
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
export type ExecutionQueueSettings = z.infer<typeof settings>["queues"];
export type ExecutionsConfig = ClustersConfig & z.infer<typeof settings>;
