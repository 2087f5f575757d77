import type { ClustersDeps } from "../clusters/index.js";
import type { ExecutionsConfig } from "./config.js";
import type { ExecutionName } from "./model/identifier.js";
import type { LaunchSlots } from "./store/outbox/launch-slots.js";

export interface ExecutionsDeps extends ClustersDeps {
  readonly config: ExecutionsConfig;
  /** Launch slots; default: executions wait for a poll of the outbox. */
  readonly launchSlots?: LaunchSlots;
  /**
   * Notifies all replicas of committed changes of these executions, by row id; the message may be
   * lost.
   */
  readonly publishChanged?: (executionIds: readonly bigint[]) => void;
  /** Tells that an execution has ended, with the number of its nodes that its engine reports. */
  readonly noteEnd?: (execution: ExecutionName, nodes: number) => void;
}
