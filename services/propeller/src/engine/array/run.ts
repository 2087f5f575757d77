import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { NodeModel } from "@flyte-ts/workflow-crd";
import type { Concurrency } from "./concurrency.js";
import { ItemFailures } from "./failures.js";
import { itemTemplate } from "./items.js";
import { ItemNews } from "./news.js";
import { type ItemCounts, neededSuccesses } from "./success.js";

/** Reporting of items: tasks as external resources of the array's single task execution, other targets as nodes below the array's. */
export type TellsOf = "items" | "nodes";

export function tellsOf(subNode: NodeModel): TellsOf {
  return subNode.target.kind === "task" ? "items" : "nodes";
}

export interface ArrayFacts {
  readonly array: ArrayNode;
  readonly subNode: NodeModel;
  readonly size: number;
  readonly concurrency: Concurrency;
  readonly template: TaskTemplate | undefined;
}

/** State of one array instance: counts of its items. The items themselves are nodes, created when they start. */
export class ArrayRun implements ItemCounts {
  readonly subNode: NodeModel;
  readonly size: number;
  readonly needed: number;
  readonly concurrency: Concurrency;
  readonly boundInputs: readonly string[];
  /** The program selects its values from lists. */
  readonly lists: boolean;
  readonly tells: TellsOf;
  /** Task template of single-item requests; `cacheTemplate` is the one for cache keys. */
  readonly template: TaskTemplate | undefined;
  readonly cacheTemplate: TaskTemplate | undefined;

  succeeded = 0;
  failed = 0;
  readonly failures = new ItemFailures();
  /** Index of the next item to start. */
  next = 0;
  /** Items enqueued but not started. */
  pending = 0;

  readonly news = new ItemNews();

  constructor({ array, subNode, size, concurrency, template }: ArrayFacts) {
    this.subNode = subNode;
    this.size = size;
    this.needed = neededSuccesses(array, size);
    this.concurrency = concurrency;
    this.boundInputs = array.boundInputs;
    this.lists = array.isOriginalSubNodeInterface !== true;
    this.tells = tellsOf(subNode);
    const single = (inputs: boolean) =>
      template === undefined || !this.lists ? template : itemTemplate(template, array.boundInputs, { inputs });
    this.template = single(true);
    this.cacheTemplate = single(false);
  }

  /** Number of items that may start while `live` run. */
  room(live: number): number {
    return this.concurrency.kind === "own" ? this.concurrency.limit - live - this.pending : Number.POSITIVE_INFINITY;
  }
}
