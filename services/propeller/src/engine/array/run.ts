import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { NodeModel } from "@flyte-ts/workflow-crd";
import type { Concurrency } from "./concurrency.js";
import { ItemFailures } from "./failures.js";
import { itemTemplate } from "./items.js";
import { ItemNews } from "./news.js";
import { type ItemCounts, neededSuccesses } from "./success.js";

/**
 * How people see the items: of tasks as resources of the array's one task execution,
 * of all else as nodes below the array's.
 */
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

/** One instance of an array: what is counted of its items. The items themselves are nodes that are made when they begin. */
export class ArrayRun implements ItemCounts {
  readonly subNode: NodeModel;
  readonly size: number;
  readonly needed: number;
  readonly concurrency: Concurrency;
  readonly boundInputs: readonly string[];
  /** The program picks its values out of lists. */
  readonly lists: boolean;
  readonly tells: TellsOf;
  /** The task, for requests of one item, and as cache keys have it. */
  readonly template: TaskTemplate | undefined;
  readonly cacheTemplate: TaskTemplate | undefined;

  succeeded = 0;
  failed = 0;
  readonly failures = new ItemFailures();
  /** No item before this one is to begin. */
  next = 0;
  /** Items that are to begin and have not. */
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

  /** How many more items may begin while `live` run. */
  room(live: number): number {
    return this.concurrency.kind === "own" ? this.concurrency.limit - live - this.pending : Number.POSITIVE_INFINITY;
  }
}
