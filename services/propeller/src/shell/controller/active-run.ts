import type { Observation, WorkflowRun } from "../../engine/types.js";
import type { WriteGate } from "../../engine-io/write-gate.js";
import type { StartPause } from "./start-pause.js";

/** A workflow in memory: its run, its write gate and its unprocessed observations. */
export interface ActiveRun {
  readonly run: WorkflowRun;
  readonly gate: WriteGate;
  /** Observations for the next reconcile, in order of arrival. */
  readonly inbox: Observation[];
  /** Time of the next resync, ms since the epoch. */
  resyncAt: number;
  /** A write is queued. */
  writeQueued: boolean;
  /** A reconcile follows when there is capacity for more effects. */
  awaitingCapacity: boolean;
  readonly startPause: StartPause;
}
