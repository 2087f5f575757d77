import type { Observation, WorkflowRun } from "../engine/types.js";
import type { RunIo } from "../shell-core/run-io.js";

/** A workflow in memory: its run, what stands between it and the world, and what it has not looked at yet. */
export interface ActiveRun {
  readonly run: WorkflowRun;
  readonly io: RunIo;
  /** Facts that the next round takes up, in the order of their arrival. */
  readonly inbox: Observation[];
  /** When the next full walk is due, ms since the epoch. */
  resyncAt: number;
  /** A write has been asked for and waits for its turn. */
  awaitsWrite: boolean;
  /** A round comes when there is room for more effects. */
  awaitsRoom: boolean;
}
