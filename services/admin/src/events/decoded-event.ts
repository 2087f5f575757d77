import type { NodeUpdate, BlockerUpdate, TaskUpdate, WorkflowUpdate } from "@flyte-ts/execution-state";
import type { executionIds, attemptStates } from "../executions/index.js";

/** Data of an event. */
type EventPayload =
  | {
      readonly kind: "workflow";
      readonly execution: executionIds.ExecutionName;
      readonly fact: WorkflowUpdate;
      readonly order: bigint;
      /**
       * Number of terminal nodes that were reported before a terminal event; undefined when the
       * engine does not send it.
       */
      readonly endedNodes?: number;
    }
  | { readonly kind: "notice"; readonly execution: executionIds.ExecutionName; readonly fact: BlockerUpdate; readonly order: bigint }
  | {
      readonly kind: "node";
      readonly execution: executionIds.ExecutionName;
      readonly nodeId: string;
      readonly fact: NodeUpdate;
      readonly order: bigint;
    }
  | {
      readonly kind: "task";
      readonly execution: executionIds.ExecutionName;
      readonly key: Omit<attemptStates.TaskKey, "executionId">;
      readonly fact: TaskUpdate;
      readonly order: bigint;
    };

/** A decoded event from the bus. */
export type DecodedEvent = EventPayload & {
  /** Reporting data plane, if data planes have names on the bus. */
  readonly cluster?: string | undefined;
  /** `namespace/name` of the reporting resource; undefined for builds that do not send it. */
  readonly workflowKey?: string | undefined;
  /**
   * Second in which the execution of the reporting resource was accepted; undefined for plugin
   * services and for builds that do not send it.
   */
  readonly acceptedSecond?: bigint | undefined;
};

/**
 * Outcome of an item.
 * - `recorded`: it is stored, now or before.
 * - `waits`: its parent row (the node, or the ends of an execution's nodes) is not stored yet.
 * - `unknown`: the execution does not exist (any more), or not yet.
 * - `unrecordable`: the database permanently rejects it.
 * - `foreign`: the reporting data plane or resource is not the execution's.
 */
export type Outcome = "recorded" | "waits" | "unknown" | "unrecordable" | "foreign";

/** An item with the row id of its execution and its index in the batch. */
export interface BatchItem<T extends DecodedEvent = DecodedEvent> {
  readonly index: number;
  readonly executionId: bigint;
  readonly item: T;
}
