import type { JsonObject } from "@bufbuild/protobuf";
import type { ExternalResourceInfo } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { LogContext, TaskLog } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { PermanentFailure, RetryableFailure } from "./failure.js";

/** What every state of an attempt may carry. */
export interface StatusDetails {
  /** Why it is so; appended to the reasons that users see. */
  readonly reason?: string;
  /** When the state began, by the clock of whoever saw it. Default: now. */
  readonly occurredAt?: Date;
  readonly logs?: readonly TaskLog[];
  readonly logContext?: LogContext;
  readonly externalResources?: readonly ExternalResourceInfo[];
  readonly customInfo?: JsonObject;
  /** Kept by propeller and given back with the next request; at most 4 KiB. Absent: what it has stays. */
  readonly pluginState?: Uint8Array;
}

export type ProgressPhase = "WAITING_FOR_RESOURCES" | "QUEUED" | "INITIALIZING" | "RUNNING";

/** The attempt is on its way. */
export interface Progress extends StatusDetails {
  readonly phase: ProgressPhase;
}

export interface Succeeded extends StatusDetails {
  readonly phase: "SUCCEEDED";
  /** Outputs by value; else they stand at the attempt's `outputs.pb`. */
  readonly outputs?: LiteralMap;
  /** Address of futures.pb, when the attempt made a dynamic workflow. */
  readonly futuresUri?: string;
  readonly deckUri?: string;
}

export interface Failed extends StatusDetails {
  readonly phase: "FAILED";
  readonly failure: PermanentFailure | RetryableFailure;
  readonly deckUri?: string;
}

/** Stopped as asked; nothing of it runs any more. */
export interface Aborted extends StatusDetails {
  readonly phase: "ABORTED";
}

export type EndedStatus = Succeeded | Failed | Aborted;

/** How an attempt stands, as its plugin sees it. */
export type TaskStatus = Progress | EndedStatus;

// An attempt never goes back in this order.
const ORDER = { WAITING_FOR_RESOURCES: 1, QUEUED: 2, INITIALIZING: 3, RUNNING: 4, SUCCEEDED: 5, FAILED: 5, ABORTED: 5 } as const;

/** Place of a phase in the life of an attempt; phases of equal place exclude each other. */
export function phaseOrder(phase: TaskStatus["phase"]): number {
  return ORDER[phase];
}

export function isEndedPhase(phase: TaskStatus["phase"]): boolean {
  return ORDER[phase] === 5;
}

export function isEnded(status: TaskStatus): status is EndedStatus {
  return isEndedPhase(status.phase);
}
