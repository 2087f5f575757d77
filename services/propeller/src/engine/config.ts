import type { Backoff } from "@flyte-ts/async/backoff";
import type { ParallelismBehavior } from "./array/concurrency.js";
import type { CacheConfig } from "./cache/config.js";

/** Engine settings of an installation. Times in ms. */
export interface EngineConfig {
  /** Prefix of executions' data dirs, `{project}-{domain}-{name}`. */
  readonly metadataPrefix: string;
  /** Prefix of raw outputs when the execution sets none. */
  readonly rawOutputPrefix: string;
  /** `producer_id` of events: the id of this cluster. */
  readonly producerId: string;
  /** Maximum attempts of a task that sets none. */
  readonly defaultMaxAttempts: number;
  /** Attempts that may be lost to system failures before the next one is fatal. */
  readonly maxSystemFailures: number;
  /**
   * Number of system failures after which attempts no longer run on interruptible machines; 0 or
   * less counts back from the last attempt (-1: the last one).
   */
  readonly interruptibleFailureThreshold: number;
  /** Timeout of one attempt when the node sets none; 0 means no timeout. */
  readonly defaultExecutionDeadline: number;
  /** Timeout of a node over all attempts when it sets none; 0 means no timeout. */
  readonly defaultActiveDeadline: number;
  readonly retryBackoff: Backoff;
  /** Backoff for resending a request without progress. */
  readonly requestResendBackoff: Backoff;
  /** Backoff for republishing the terminal event until admin has recorded it. */
  readonly terminalRepublishBackoff: Backoff;
  /** Backoff for failed reads and writes of blobs. */
  readonly blobRetry: Backoff;
  /** Backoff for failed calls. */
  readonly callRetryBackoff: Backoff;
  /** Poll intervals for child executions and signals. */
  readonly wakeupFallbackBackoff: WakeupFallbackBackoff;
  /** Undefined: caching is off. */
  readonly cache: CacheConfig | undefined;
  /** On load, republishes events of nodes that ended at most this long before the last change. */
  readonly republishWindow: number;
  /** Timeout of an unanswered abort when the attempt never reported anything. */
  readonly unstartedAbortTimeout: number;
  /**
   * Timeout of an unanswered abort of a started attempt: its node ends, and objects still running
   * are deleted with the resource. 0: never.
   */
  readonly abortTimeout: number;
  /**
   * Time without response after which a request is reported as waiting for its plugin service; 0
   * means never.
   */
  readonly pluginResponseTimeout: number;
  /** Time after which an attempt fails whose plugin is missing or silent; 0: never. */
  readonly pluginUnavailableTimeout: number;
  /**
   * Maximum of node instances of one execution, both after expansion of its sub-workflows and at
   * one time.
   */
  readonly maxInstances: number;
  /** Maximum nesting depth of sub-workflows, including the workflow itself. */
  readonly maxDepth: number;
  /** Maximum nesting depth of dynamic nodes. */
  readonly maxDynamicDepth: number;
  /** Limit for the items of an array that sets none. */
  readonly arrayParallelism: ParallelismBehavior;
  /** Minimum interval between events of an array's item changes. */
  readonly arrayEventInterval: number;
  /**
   * Maximum of nodes started per observation; the others wait for a `capacity` observation. Their
   * requests and events are in memory together before the first is encoded: 250 instead of 16 lets
   * the garbage collector copy a third more.
   */
  readonly maxStartsPerObservation: number;
  /**
   * Maximum of nodes reconciled per observation; the others wait for `capacity`, so that a large
   * graph does not block other executions.
   */
  readonly maxReconcilesPerObservation: number;
  /**
   * Maximum size of inputs and outputs passed by value, bytes; larger ones go to the blob store.
   */
  readonly maxInlineOutputBytes: number;
  /**
   * Writes inputs of any size to the blob store before an attempt starts. For a control plane that
   * reads a task execution's inputs only at `input_uri`, such as Go FlyteAdmin.
   */
  readonly storesInputs: boolean;
  /** Maximum total of outputs that one status holds by value for their consumers, bytes. */
  readonly maxTotalInlineOutputBytes: number;
  /**
   * Maximum total of outputs that one status holds by value, bytes. Counts those for consumers,
   * outputs without remaining consumers, and end facts kept until admin has recorded the
   * execution's end.
   */
  readonly maxKeptOutputBytes: number;
  /**
   * Approximate size of node statuses, bytes of JSON, above which they move from the resource to
   * slices.
   */
  readonly maxInlineStatusBytes: number;
  /** Limits of a status slice. */
  readonly sliceLimits: SliceLimits;
  /** Deletes objects of ended attempts even after success. */
  readonly deleteResourcesOnFinalize: boolean;
  /** Returns a number in [0, 1), for jitter only. */
  readonly random: () => number;
}

/** Poll intervals. */
export interface WakeupFallbackBackoff {
  /** For the end of a child execution. */
  readonly readExecution: Backoff;
  /** For the value of a signal. */
  readonly awaitSignal: Backoff;
}

const ONCE_A_MINUTE: Backoff = { initialMs: 60_000, factor: 1, maxMs: 60_000, jitter: 0.5 };

/** For a control plane that sends wake-ups for ends and signals: a wake-up may be lost. */
const FALLBACK_POLL: WakeupFallbackBackoff = { readExecution: ONCE_A_MINUTE, awaitSignal: ONCE_A_MINUTE };

/**
 * For a control plane without wake-ups, such as Go FlyteAdmin; Go FlytePropeller reads a signal
 * every 3 to 5 s.
 */
export const PRIMARY_POLL: WakeupFallbackBackoff = {
  readExecution: { initialMs: 1_000, factor: 1.25, maxMs: 10_000, jitter: 0.3 },
  awaitSignal: { initialMs: 3_000, factor: 1, maxMs: 3_000, jitter: 0.3 },
};

/** Addresses of the stock sandbox, limits of Go Flyte 1.16. The caller provides `random`. */
export function defaultEngineConfig(random: () => number): EngineConfig {
  return {
    metadataPrefix: "s3://my-s3-bucket/metadata/propeller",
    rawOutputPrefix: "s3://my-s3-bucket/data",
    producerId: "propeller",
    defaultMaxAttempts: 1,
    maxSystemFailures: 3,
    interruptibleFailureThreshold: -1,
    defaultExecutionDeadline: 0,
    defaultActiveDeadline: 0,
    retryBackoff: { initialMs: 100, factor: 3, maxMs: 60_000, jitter: 0.5 },
    requestResendBackoff: { initialMs: 30_000, factor: 2, maxMs: 300_000, jitter: 0.1 },
    terminalRepublishBackoff: { initialMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0.1 },
    blobRetry: { initialMs: 200, factor: 2, maxMs: 30_000, jitter: 0.5 },
    callRetryBackoff: { initialMs: 200, factor: 2, maxMs: 30_000, jitter: 0.5 },
    wakeupFallbackBackoff: FALLBACK_POLL,
    cache: undefined,
    republishWindow: 60_000,
    unstartedAbortTimeout: 600_000,
    abortTimeout: 1_800_000,
    pluginResponseTimeout: 60_000,
    pluginUnavailableTimeout: 0,
    maxInstances: 200_000,
    maxDepth: 100,
    maxDynamicDepth: 32,
    arrayParallelism: "unlimited",
    arrayEventInterval: 500,
    maxStartsPerObservation: 16,
    maxReconcilesPerObservation: 512,
    maxInlineOutputBytes: 8 * 1024,
    storesInputs: false,
    maxTotalInlineOutputBytes: 128 * 1024,
    maxKeptOutputBytes: 4 * 1024 * 1024,
    maxInlineStatusBytes: 256 * 1024,
    sliceLimits: { nodes: 256, bytes: 128 * 1024 },
    deleteResourcesOnFinalize: false,
    random,
  };
}

export interface SliceLimits {
  /** Nodes per slice. */
  readonly nodes: number;
  /** Approximate bytes at which a slice is full. */
  readonly bytes: number;
}
