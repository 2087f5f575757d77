import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskEvent, TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ParsedWorkflow, WorkflowStatus } from "@flyte-ts/workflow-crd";
import type { Answer, Question } from "./ask/question.js";
import type { EngineConfig } from "./config.js";
import type { PluginsKnown } from "./plugin/known.js";
import type { SliceBlob } from "./status/status-slices.js";

/**
 * What the shell tells the engine. Every one may come twice, late or in another
 * order than things happened.
 */
export type Observation =
  /**
   * First call after `createRun`, but for `plugins`: walk the whole graph, send again what is running. `isNew`: what was read is the
   * first that there is of the resource, and nobody has taken it up before.
   */
  | { readonly kind: "load"; readonly isNew?: boolean }
  /** Periodic or after an error: walk the whole graph, so that nothing rests on bookkeeping alone. */
  | { readonly kind: "resync" }
  | { readonly kind: "taskEvent"; readonly event: TaskEvent }
  /** `wakeAt` has come. */
  | { readonly kind: "timer" }
  /** What began last is on its way and more may begin, see `wantsRoom`. */
  | { readonly kind: "room" }
  /** Deletion of the resource was requested. */
  | { readonly kind: "abort"; readonly reason?: string }
  | { readonly kind: "outputsRead"; readonly uri: string; readonly result: ReadResult<LiteralMap> }
  | { readonly kind: "literalRead"; readonly uri: string; readonly result: ReadResult<Literal> }
  /** A blob is written; with `error` the engine asks again after a while. */
  | { readonly kind: "outputsWritten"; readonly uri: string; readonly error?: string }
  /** The answer to the question with this id; of one that nobody waits for any more it changes nothing. */
  | { readonly kind: "answered"; readonly id: string; readonly answer: Answer }
  /** Admin tells that the child execution of this node (by its unique id) has ended, or that this signal is set. */
  | { readonly kind: "awaited"; readonly nodeId?: string; readonly signalId?: string }
  /** The status up to this revision is in the resource. */
  | { readonly kind: "persisted"; readonly revision: number }
  /** Admin has the terminal event in its database. */
  | { readonly kind: "recorded"; readonly phase: string }
  /** Admin refuses events of this execution, for good. */
  | { readonly kind: "rejected"; readonly cause: RejectionCause; readonly message: string }
  /** Admin refuses what names this node (by its unique id), because it does not know the node: its event was lost. */
  | { readonly kind: "unknownNode"; readonly nodeId: string }
  /** Which task types are served has changed, or is told to a new run. */
  | { readonly kind: "plugins"; readonly plugins: PluginsKnown }
  /** A process has begun to serve these task types: what it was asked before, another may have taken and lost. */
  | { readonly kind: "pluginStarted"; readonly taskTypes: ReadonlySet<string> }
  /** The status does not fit into the resource: the execution fails with `WorkflowTooLarge`. */
  | { readonly kind: "tooLarge"; readonly message: string };

/** `notFound`: no such execution; `incompatibleCluster`: it belongs to another cluster; `terminal`: it has ended already. */
export type RejectionCause = "notFound" | "incompatibleCluster" | "terminal";

/** `error` is transient: the engine asks again. */
export type ReadResult<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "missing" }
  /** Something stands there that is not what it should be. */
  | { readonly kind: "garbled"; readonly message: string }
  | { readonly kind: "error"; readonly message: string };

/**
 * What the shell is to do. An effect with `afterRevision` must not be done before
 * the status of that revision is durable; if the process ends before, it must not
 * be done at all: `load` decides anew. Effects without it are safe to do at once,
 * to repeat and to lose.
 */
export type Effect =
  | { readonly kind: "sendTask"; readonly request: TaskRequest; readonly afterRevision?: number }
  | { readonly kind: "publish"; readonly event: ExecutionEvent; readonly afterRevision?: number }
  | { readonly kind: "readOutputs"; readonly uri: string }
  | { readonly kind: "readLiteral"; readonly uri: string }
  | { readonly kind: "writeOutputs"; readonly uri: string; readonly outputs: LiteralMap }
  /** Always answered, with an error where there is no answer. What changes the world is safe to repeat. */
  | { readonly kind: "ask"; readonly id: string; readonly ask: Question; readonly afterRevision?: number }
  /** Once that revision is durable (labels set, finalizer gone), the run is over and may be forgotten. */
  | { readonly kind: "finish"; readonly afterRevision: number }
  /** What people who look at the resource in the cluster are told; it may be lost. */
  | { readonly kind: "note"; readonly note: Note }
  | {
      readonly kind: "count";
      readonly metric: EngineMetric;
      readonly labels?: Readonly<Record<string, string>>;
      readonly seconds?: number;
    };

/** A note on the resource, as Kubernetes shows them. */
export interface Note {
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

/** JSON merge patch (RFC 7386) for the resource; `metadata` only with the patch that finishes it. */
export interface ResourcePatch {
  readonly metadata?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly finalizers: readonly string[] | null;
  };
  readonly status: Readonly<Record<string, unknown>>;
  /** Must be durable before the patch is sent, for it names them. */
  readonly blobs?: readonly SliceBlob[];
  /** Blobs that nobody needs once the patch is durable. Whether they go is of no importance. */
  readonly unused?: readonly string[];
  /** With the last patch: of the blobs below the address only these are needed from then on. */
  readonly sweep?: { readonly prefix: string; readonly keep: readonly string[] };
}

/** Counts of one run, for the level monitor. */
export interface RunCounts {
  /** Nodes that have begun and not ended. */
  readonly activeNodes: number;
  /** Task nodes among them: what `max parallelism` counts. */
  readonly activeTasks: number;
  /** Task nodes that are ready and wait for the parallelism limit. */
  readonly waitingTasks: number;
}

/** One running workflow: its status, and what it wants done next. Not safe for use by two callers at once. */
export interface WorkflowRun {
  /** `namespace/name`. */
  readonly key: string;
  /** Takes up one fact and tells what follows. No I/O, no clock: `now` is in milliseconds since the epoch. */
  observe(observation: Observation, now: number): readonly Effect[];
  /** The whole status as it should be in the resource. Walks all nodes: for writing small changes take `takePatch`. */
  readonly status: WorkflowStatus;
  /** Counts changes of the status; starts at 0 for what was loaded. */
  readonly revision: number;
  /** Changes since the last call (or the load), or undefined when there are none. Costs as much as nodes have changed. */
  takePatch(): ResourcePatch | undefined;
  /** Earliest time, ms, at which the engine wants a `timer` observation. */
  readonly wakeAt: number | undefined;
  /** Nodes could begin, and wait for an observation `room`: what they lead to stands in memory until others take it. */
  readonly wantsRoom: boolean;
  /** See `workflowPhases` of the domain package. */
  readonly phase: number;
  /** The status is terminal; the run may still wait for admin's word. */
  readonly terminal: boolean;
  /** `finish` was given: nothing more will come. */
  readonly finished: boolean;
  readonly counts: RunCounts;
}

export interface RunInput {
  readonly workflow: ParsedWorkflow;
  readonly config: EngineConfig;
  /** ms since the epoch. */
  readonly now: number;
  /** For tests only: another way of walking to compare with, and a mistake that the simulation must find. */
  readonly testing?: {
    readonly fullWalks?: boolean;
    readonly forgetsFollowers?: boolean;
    readonly forgetsStarts?: boolean;
    readonly forgetsChildren?: boolean;
    readonly crowdsArrays?: boolean;
    readonly forgetsOutputs?: boolean;
    readonly forgetsBelow?: boolean;
    readonly forgetsItems?: boolean;
  };
}
