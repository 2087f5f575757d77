import type { TaskExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { Observation } from "../../engine/types.js";

export interface Fence {
  readonly shouldSend: () => boolean;
}

/** Destination of workflow and node events. */
export interface EventSink {
  /**
   * `key` names the workflow. Resolves when the event is stored, or is rejected for good. Abandoned
   * when `shouldSend` returns false.
   */
  publish(key: string, event: ExecutionEvent, fence?: Fence): Promise<void>;
  /**
   * Resolves when all events of the workflow published before are stored or rejected. Absent where
   * the control plane accepts requests that name a node before the node's events.
   */
  whenRecorded?(key: string): Promise<void>;
}

/**
 * A sink through which propeller forwards the events of plugin services, for a recorder that does
 * not consume the bus.
 */
export interface ForwardingSink extends EventSink {
  /** Resolves to false when the sink is closed before the event is stored or rejected. */
  forward(key: string, event: TaskExecutionEvent, outputs: LiteralMap | undefined): Promise<boolean>;
  /** Stops sending; queued events are dropped. */
  close(): void;
}

/** Receives the meaning of a recorder's response for a workflow. */
export type Observe = (key: string, observation: Observation) => void;
