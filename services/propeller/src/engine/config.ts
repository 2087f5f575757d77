import type { BackoffConfig } from "./retry/backoff.js";
import type { ParallelismBehavior } from "./array/concurrency.js";
import type { CacheConfig } from "./cache/config.js";
import type { SliceLimits } from "./status/status-slices.js";

/** What an installation decides about the engine. Times are in milliseconds. */
export interface EngineConfig {
  /** Executions' data dirs stand below it, as `{project}-{domain}-{name}`. */
  readonly metadataPrefix: string;
  /** Raw outputs stand below it when the execution names no prefix of its own. */
  readonly rawOutputPrefix: string;
  /** `producer_id` of events: the id of this cluster. */
  readonly producerId: string;
  /** Attempts of a task that says nothing itself. */
  readonly defaultMaxAttempts: number;
  /** Attempts that may be lost to system failures before one more is fatal. */
  readonly maxSystemFailures: number;
  /**
   * From how many system failures on attempts no longer run on interruptible
   * machines; 0 or less counts back from the last attempt (-1: the last one).
   */
  readonly interruptibleFailureThreshold: number;
  /** Longest time of one attempt when the node says nothing; 0 means none. */
  readonly defaultExecutionDeadline: number;
  /** Longest time of a node over all attempts when it says nothing; 0 means none. */
  readonly defaultActiveDeadline: number;
  readonly retryBackoff: BackoffConfig;
  /** A request without progress is sent again after `initial`, then less and less often. */
  readonly resend: BackoffConfig;
  /** The terminal event is published again until admin has recorded it. */
  readonly republish: BackoffConfig;
  /** Failed reads and writes of blobs are tried again. */
  readonly blobRetry: BackoffConfig;
  /** Questions that could not be answered are asked again. */
  readonly askRetry: BackoffConfig;
  /** How often the state of children and signals is read again. */
  readonly awaitedAgain: AwaitedAgain;
  /** Undefined: nothing is cached. */
  readonly cache: CacheConfig | undefined;
  /** On load, events of nodes that ended this long before the last change are published again. */
  readonly republishWindow: number;
  /** An abort that nobody answers is given up after this time if the attempt never reported anything. */
  readonly abandonUnanswered: number;
  /**
   * An abort of an attempt that had begun, and that nobody answers for so long, is given
   * up: its node ends, and what may still run goes with the resource. 0: never.
   */
  readonly abandonAborts: number;
  /** A request that no plugin service has answered for so long is shown as waiting; 0 means never. */
  readonly unansweredAfter: number;
  /** An attempt that nobody serves, or nobody tells of, fails when it has waited so long; 0: it waits for ever. */
  readonly pluginDeadline: number;
  /** Node instances that one execution may come to when its sub-workflows are expanded, and that it may hold at once. */
  readonly maxInstances: number;
  /** How deep sub-workflows may stand in one another, the workflow itself included. */
  readonly maxDepth: number;
  /** How deep dynamic nodes may make further ones. */
  readonly maxDynamicDepth: number;
  /** What limits the items of an array that says nothing itself. */
  readonly arrayParallelism: ParallelismBehavior;
  /** News of an array's items are told at most once in this time. */
  readonly arrayEventPause: number;
  /**
   * Nodes that begin with one observation; the others wait for one that says that there is room for what they lead to. With many at
   * once their requests and events stand in memory all together, before the first is sent as bytes: with 250, a third more is copied
   * by the garbage collector than with 16.
   */
  readonly startsPerRound: number;
  /** Nodes that are looked at with one observation; the others wait for the observation `room`, so that a large graph lets other executions have their turn. */
  readonly looksPerRound: number;
  /** Outputs and inputs up to this many bytes travel by value; larger ones go to the blob store. */
  readonly inlineLimit: number;
  /**
   * Inputs of whatever size stand in the blob store before an attempt begins. For a control plane that reads the inputs of a task
   * execution at its `input_uri` alone, such as Go FlyteAdmin.
   */
  readonly storesInputs: boolean;
  /** Bytes of outputs that one status may hold by value for their consumers. */
  readonly inlineBudget: number;
  /** The same with what nobody consumes any more and what stays until admin has recorded the execution's end. */
  readonly keptBudget: number;
  /** Bytes of JSON, about, up to which the statuses of nodes stand in the resource; larger ones stand in slices. */
  readonly inlineStatusLimit: number;
  /** Of a slice of a status. */
  readonly slices: SliceLimits;
  /** Objects of ended attempts are removed even when the attempt succeeded. */
  readonly deleteResourcesOnFinalize: boolean;
  /** A number in [0, 1), for jitter only. */
  readonly random: () => number;
}

/** Pauses between two readings of what a node waits for. */
export interface AwaitedAgain {
  /** The end of a child execution. */
  readonly readExecution: BackoffConfig;
  /** The value of a signal. */
  readonly awaitSignal: BackoffConfig;
}

const ONCE_A_MINUTE: BackoffConfig = { initial: 60_000, factor: 1, max: 60_000, jitter: 0.5 };

/** For a control plane that tells of ends and signals: a wake may be lost. */
const LOST_WAKES: AwaitedAgain = { readExecution: ONCE_A_MINUTE, awaitSignal: ONCE_A_MINUTE };

/** For a control plane that tells of neither, such as Go FlyteAdmin; Go FlytePropeller reads a signal every 3 to 5 s. */
export const POLLED: AwaitedAgain = {
  readExecution: { initial: 1_000, factor: 1.25, max: 10_000, jitter: 0.3 },
  awaitSignal: { initial: 3_000, factor: 1, max: 3_000, jitter: 0.3 },
};

/** The stock sandbox's addresses, Go Flyte 1.16's limits. `random` is given by the caller. */
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
    retryBackoff: { initial: 100, factor: 3, max: 60_000, jitter: 0.5 },
    resend: { initial: 30_000, factor: 2, max: 300_000, jitter: 0.1 },
    republish: { initial: 5_000, factor: 2, max: 60_000, jitter: 0.1 },
    blobRetry: { initial: 200, factor: 2, max: 30_000, jitter: 0.5 },
    askRetry: { initial: 200, factor: 2, max: 30_000, jitter: 0.5 },
    awaitedAgain: LOST_WAKES,
    cache: undefined,
    republishWindow: 60_000,
    abandonUnanswered: 600_000,
    abandonAborts: 1_800_000,
    unansweredAfter: 60_000,
    pluginDeadline: 0,
    maxInstances: 200_000,
    maxDepth: 100,
    maxDynamicDepth: 32,
    arrayParallelism: "unlimited",
    arrayEventPause: 500,
    startsPerRound: 16,
    looksPerRound: 10_000,
    inlineLimit: 8 * 1024,
    storesInputs: false,
    inlineBudget: 128 * 1024,
    keptBudget: 4 * 1024 * 1024,
    inlineStatusLimit: 256 * 1024,
    slices: { nodes: 256, bytes: 128 * 1024 },
    deleteResourcesOnFinalize: false,
    random,
  };
}
