import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { NodeModel } from "@flyte-ts/workflow-crd";
import type { Concurrency } from "./concurrency.js";
import { ItemFailures } from "./failures.js";
import { itemTemplate } from "./items.js";
import { ItemChanges } from "./item-changes.js";
import { type ItemCounts, requiredSuccesses } from "./success.js";

/**
 * Reporting of items: tasks as external resources of the array's single task execution, other
 * targets as nodes below the array's.
 */
export type ItemReporting = "items" | "nodes";

export function itemReportingOf(subNode: NodeModel): ItemReporting {
  return subNode.target.kind === "task" ? "items" : "nodes";
}

export interface ArrayStateOptions {
  readonly array: ArrayNode;
  readonly subNode: NodeModel;
  readonly size: number;
  readonly concurrency: Concurrency;
  readonly template: TaskTemplate | undefined;
}

/**
 * State of one array instance: counts of its items. The items themselves are nodes, created when
 * they start.
 */
export class ArrayState implements ItemCounts {
  readonly subNode: NodeModel;
  readonly size: number;
  readonly requiredSuccesses: number;
  readonly concurrency: Concurrency;
  readonly boundInputs: readonly string[];
  /** True: the program receives lists and selects its element itself. */
  readonly inputsAreLists: boolean;
  readonly reportsItemsAs: ItemReporting;
  /** Task template of single-item requests; `cacheTemplate` is the one for cache keys. */
  readonly template: TaskTemplate | undefined;
  readonly cacheTemplate: TaskTemplate | undefined;

  succeeded = 0;
  failed = 0;
  readonly failures = new ItemFailures();
  /** Index of the next item to start. */
  nextIndex = 0;
  /** Items enqueued but not started. */
  queued = 0;

  readonly changes = new ItemChanges();

  constructor({ array, subNode, size, concurrency, template }: ArrayStateOptions) {
    this.subNode = subNode;
    this.size = size;
    this.requiredSuccesses = requiredSuccesses(array, size);
    this.concurrency = concurrency;
    this.boundInputs = array.boundInputs;
    this.inputsAreLists = array.isOriginalSubNodeInterface !== true;
    this.reportsItemsAs = itemReportingOf(subNode);
    const single = (inputs: boolean) =>
      template === undefined || !this.inputsAreLists ? template : itemTemplate(template, array.boundInputs, { inputs });
    this.template = single(true);
    this.cacheTemplate = single(false);
  }

  /** Number of items that may start while `active` run. */
  capacity(active: number): number {
    return this.concurrency.kind === "own" ? this.concurrency.limit - active - this.queued : Number.POSITIVE_INFINITY;
  }
}
