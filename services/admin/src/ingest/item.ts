import type { NodeFact, NoticeFact, TaskFact, WorkflowFact } from "@flyte-ts/execution-state";
import type { ExecutionName } from "../execution/state.js";
import type { TaskKey } from "../task-execution/store.js";

/** What an event tells. */
type Told =
  | {
      readonly kind: "workflow";
      readonly execution: ExecutionName;
      readonly fact: WorkflowFact;
      readonly order: bigint;
      /** With an end: how many of its nodes have ended and were told of; absent where the engine does not say it. */
      readonly endedNodes?: number;
    }
  | { readonly kind: "notice"; readonly execution: ExecutionName; readonly fact: NoticeFact; readonly order: bigint }
  | { readonly kind: "node"; readonly execution: ExecutionName; readonly nodeId: string; readonly fact: NodeFact; readonly order: bigint }
  | {
      readonly kind: "task";
      readonly execution: ExecutionName;
      readonly key: Omit<TaskKey, "executionId">;
      readonly fact: TaskFact;
      readonly order: bigint;
    };

/** One event from the bus, read and ready to be recorded. */
export type Item = Told & {
  /** The data plane that told it, where data planes have names on the bus. */
  readonly cluster?: string | undefined;
  /** `namespace/name` of the resource that told it; undefined of builds that do not say it. */
  readonly workflowKey?: string | undefined;
};

/**
 * What became of it.
 * - `recorded`: it is in the database, now or before.
 * - `waits`: what it belongs to (the node, its own nodes' ends) is not there yet.
 * - `unknown`: there is no such execution, or not yet.
 * - `unrecordable`: the database will never take it.
 * - `foreign`: the execution was not given to the data plane that told it, or another resource than its own told it.
 */
export type Outcome = "recorded" | "waits" | "unknown" | "unrecordable" | "foreign";

/** An item whose execution is known by number, with its place in the batch. */
export interface Placed<T extends Item = Item> {
  readonly index: number;
  readonly executionId: bigint;
  readonly item: T;
}
