import type { SliceEntry, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskEvent, TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { CallResult, Call } from "./calls/call.js";
import type { PluginHealth } from "./plugin-health.js";

/** Input of the engine from the shell. Each may be duplicated, late or out of order. */
export type Observation =
  /**
   * First call after `createRun`, except `plugins`: resyncs the graph, resends requests of running
   * attempts. `isNew`: the resource is in its first version, and no process has loaded it before.
   */
  | { readonly kind: "load"; readonly isNew?: boolean }
  /** Periodic or after an error: scans the whole graph, to correct incremental bookkeeping. */
  | { readonly kind: "resync" }
  | { readonly kind: "taskEvent"; readonly event: TaskEvent }
  /** `nextTimerAt` is reached. */
  | { readonly kind: "timer" }
  /** Capacity is available: start more nodes, see `needsCapacity`. */
  | {
      readonly kind: "capacity";
      /** Lower limit of nodes to reconcile; default: `maxReconcilesPerObservation`. */
      readonly maxReconciles?: number;
    }
  /** Deletion of the resource was requested. */
  | { readonly kind: "abort"; readonly reason?: string }
  | { readonly kind: "outputsRead"; readonly uri: string; readonly result: ReadResult<LiteralMap> }
  | { readonly kind: "literalRead"; readonly uri: string; readonly result: ReadResult<Literal> }
  /** A blob is written; after `error` the engine retries with backoff. */
  | { readonly kind: "outputsWritten"; readonly uri: string; readonly error?: string }
  /** Result of the call with this id; ignored when the call is no longer pending. */
  | { readonly kind: "callResult"; readonly id: string; readonly result: CallResult }
  /**
   * Wake-up from admin: the child execution of this node (by its unique id) has ended, or this
   * signal is set.
   */
  | { readonly kind: "wakeup"; readonly nodeId?: string; readonly signalId?: string }
  /** The status up to this revision is durable. */
  | { readonly kind: "persisted"; readonly revision: number }
  /** Admin has stored the terminal event. */
  | { readonly kind: "endRecorded"; readonly phase: string }
  /** Admin rejects events of this execution permanently. */
  | { readonly kind: "rejected"; readonly cause: RejectionCause; readonly message: string }
  /**
   * Admin rejects events about this node (by its unique id) because it does not know the node: its
   * event was lost.
   */
  | { readonly kind: "unknownNode"; readonly nodeId: string }
  /** Availability of task types, when it changes and for a new run. */
  | { readonly kind: "plugins"; readonly plugins: PluginHealth }
  /** A process started to serve these task types: an earlier process may have lost its requests. */
  | { readonly kind: "pluginStarted"; readonly taskTypes: ReadonlySet<string> }
  /** The status exceeds the size of the resource: the execution fails with `WorkflowTooLarge`. */
  | { readonly kind: "tooLarge"; readonly message: string };

/**
 * `notFound`: no such execution; `incompatibleCluster`: it belongs to another cluster; `terminal`:
 * it has ended already.
 */
export type RejectionCause = "notFound" | "incompatibleCluster" | "terminal";

/** `error` is transient: the engine retries. */
export type ReadResult<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "missing" }
  /** The blob is invalid. */
  | { readonly kind: "corrupt"; readonly message: string }
  | { readonly kind: "error"; readonly message: string };

/**
 * Output of the engine for the shell. An effect with `afterRevision` must not run before the status
 * of that revision is durable; if the process ends before, it must not run at all: `load` derives
 * it again. Effects without it may run at once, be repeated or be lost.
 */
export type Effect =
  | { readonly kind: "sendTaskRequest"; readonly request: TaskRequest; readonly afterRevision?: number }
  | { readonly kind: "publish"; readonly event: ExecutionEvent; readonly afterRevision?: number }
  | { readonly kind: "readOutputs"; readonly uri: string }
  | { readonly kind: "readLiteral"; readonly uri: string }
  | { readonly kind: "writeOutputs"; readonly uri: string; readonly outputs: LiteralMap }
  /** Always gets a result, an error if necessary. Calls with side effects are idempotent. */
  | { readonly kind: "call"; readonly id: string; readonly call: Call; readonly afterRevision?: number }
  /**
   * Once that revision is durable (labels set, finalizer removed), the run is over and may be
   * released.
   */
  | { readonly kind: "finalize"; readonly afterRevision: number }
  /** Kubernetes event on the resource; may be lost. */
  | { readonly kind: "kubeEvent"; readonly kubeEvent: KubeEvent }
  | {
      readonly kind: "metric";
      readonly metric: EngineMetric;
      readonly labels?: Readonly<Record<string, string>>;
      readonly seconds?: number;
    };

/** A Kubernetes event on the resource. */
export interface KubeEvent {
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase. */
  readonly reason: string;
  readonly message: string;
}

export type EngineMetric =
  | "workflowStarted"
  | "workflowEnded"
  | "nodeStarted"
  | "nodeEnded"
  | "attemptRetried"
  | "attemptWaits"
  | "attemptTimedOut"
  | "abortAbandoned"
  | "requestResent"
  | "taskEventIgnored"
  | "bindingFailed"
  | "nodeRecovered"
  | "cacheHit"
  | "cacheMiss"
  | "cachePutFailed";

/**
 * JSON merge patch (RFC 7386) for the resource; `metadata` only with the patch that finishes it.
 */
export interface ResourcePatch {
  readonly metadata?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly finalizers: readonly string[] | null;
  };
  readonly status: Readonly<Record<string, unknown>>;
  /** Must be durable before the patch is sent, which names them. */
  readonly blobs?: readonly SliceBlob[];
  /** Blobs that are unused once the patch is durable. Their deletion is optional. */
  readonly obsoleteSlices?: readonly string[];
  /** With the last patch: only these blobs below the address are still needed. */
  readonly deleteOtherSlices?: { readonly prefix: string; readonly keep: readonly string[] };
}

/** Counts of one run, for metrics. */
export interface RunCounts {
  /** Nodes that have started and not ended. */
  readonly activeNodes: number;
  /** Active task nodes, which count against `max parallelism`. */
  readonly activeTasks: number;
  /** Task nodes that are ready and wait for the parallelism limit. */
  readonly queuedTasks: number;
}

/** One running workflow: its status and its next effects. Not safe for concurrent use. */
export interface WorkflowRun {
  /** `namespace/name`. */
  readonly key: string;
  /**
   * Processes one observation and returns the effects. No I/O, no clock: `now` is in milliseconds
   * since the epoch.
   */
  observe(observation: Observation, now: number): readonly Effect[];
  /**
   * The complete status for the resource. Visits all nodes: use `takeStatusPatch` to write small
   * changes.
   */
  readonly status: WorkflowStatus;
  /** Counts changes of the status; 0 after loading. */
  readonly revision: number;
  /**
   * Changes since the last call (or the load), or undefined when there are none. Costs as much as
   * nodes have changed.
   */
  takeStatusPatch(): ResourcePatch | undefined;
  /** Earliest time at which the engine needs a `timer` observation, ms. */
  readonly nextTimerAt: number | undefined;
  /**
   * Nodes could start and wait for a `capacity` observation, since their effects stay in memory
   * until they are sent.
   */
  readonly needsCapacity: boolean;
  /** See `workflowPhases` of the domain package. */
  readonly phase: number;
  /** The status is terminal; the run may still wait for admin to record it. */
  readonly terminal: boolean;
  /** `finalize` was emitted: no effects follow. */
  readonly isFinalizing: boolean;
  readonly counts: RunCounts;
}

/** A blob that must be durable before the patch that names it is sent. Its name is unique. */
export interface SliceBlob {
  readonly uri: string;
  readonly entries: readonly SliceEntry[];
}
