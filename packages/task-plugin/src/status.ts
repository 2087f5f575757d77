import type { JsonObject } from "@bufbuild/protobuf";
import type { ExternalResourceInfo } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { LogContext, TaskLog } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { PermanentFailure, RetryableFailure } from "./failure.js";

/** Fields common to all states of an attempt. */
export interface StatusDetails {
  /** Reason of the state, appended to the reasons shown to users. */
  readonly reason?: string;
  /** Start of the state, by the observer's clock. Default: now. */
  readonly occurredAt?: Date;
  readonly logs?: readonly TaskLog[];
  readonly logContext?: LogContext;
  readonly externalResources?: readonly ExternalResourceInfo[];
  readonly customInfo?: JsonObject;
  /**
   * Stored by propeller and returned with the next request; at most 4 KiB. Absent: the stored one
   * is kept.
   */
  readonly pluginState?: Uint8Array;
}

export type ProgressPhase = "WAITING_FOR_RESOURCES" | "QUEUED" | "INITIALIZING" | "RUNNING";

/** The attempt is in progress. */
export interface Progress extends StatusDetails {
  readonly phase: ProgressPhase;
}

export interface Succeeded extends StatusDetails {
  readonly phase: "SUCCEEDED";
  /** Outputs by value; absent: they are in the attempt's `outputs.pb`. */
  readonly outputs?: LiteralMap;
  /** URI of futures.pb, when the attempt created a dynamic workflow. */
  readonly futuresUri?: string;
  readonly deckUri?: string;
  /** Finalize the attempt once its end is stored: its place waits for another. */
  readonly cleanup?: boolean;
}

export interface Failed extends StatusDetails {
  readonly phase: "FAILED";
  readonly failure: PermanentFailure | RetryableFailure;
  readonly deckUri?: string;
  /** Finalize the attempt once its end is stored: its place waits for another. */
  readonly cleanup?: boolean;
}

/** Stopped as requested; nothing of it runs any more. */
export interface Aborted extends StatusDetails {
  readonly phase: "ABORTED";
}

export type TerminalStatus = Succeeded | Failed | Aborted;

/** Status of an attempt, as its plugin sees it. */
export type TaskStatus = Progress | TerminalStatus;

// Phases never move backwards in this order.
const PHASE_RANK = { WAITING_FOR_RESOURCES: 1, QUEUED: 2, INITIALIZING: 3, RUNNING: 4, SUCCEEDED: 5, FAILED: 5, ABORTED: 5 } as const;

/** Position of a phase in the life of an attempt; phases of equal position exclude each other. */
export function phaseRank(phase: TaskStatus["phase"]): number {
  return PHASE_RANK[phase];
}

export function isTerminalPhase(phase: TaskStatus["phase"]): boolean {
  return PHASE_RANK[phase] === 5;
}

export function isTerminalStatus(status: TaskStatus): status is TerminalStatus {
  return isTerminalPhase(status.phase);
}
