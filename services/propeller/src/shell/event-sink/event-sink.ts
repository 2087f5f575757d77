import type { TaskExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { Observation } from "../../engine/types.js";

export interface AsLongAs {
  readonly while: () => boolean;
}

/** Where events of workflows and nodes go. */
export interface EventSink {
  /** `key` names the workflow. Resolves when the event is stored, or will never be. It is given up once `while` says so. */
  publish(key: string, event: ExecutionEvent, asLongAs?: AsLongAs): Promise<void>;
  /**
   * Resolves when all events of the workflow that were published before are stored, or never will be. Absent where the control plane
   * takes requests that name a node before the node's events.
   */
  recorded?(key: string): Promise<void>;
}

/** A sink to which the events of plugin services go by propeller, because whoever records them does not hear the bus. */
export interface ForwardingSink extends EventSink {
  forward(key: string, event: TaskExecutionEvent, outputs: LiteralMap | undefined): Promise<void>;
  /** Sends nothing more; what waits is dropped. */
  close(): void;
}

/** Takes what a recorder's answer means for a workflow. */
export type Observe = (key: string, observation: Observation) => void;
