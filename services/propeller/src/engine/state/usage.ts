import type { RuntimeNode } from "../graph/runtime.js";

/** Counts of one run that its limits bound. */
export class Usage {
  /** Nodes and items of all graphs entered and not discarded. */
  instances = 0;
  /** Started nodes that count against the parallelism limit. */
  slotsUsed = 0;
  /** Nodes that have started and not ended. */
  activeNodes = 0;

  addInstances(count: number): void {
    this.instances += count;
  }

  removeInstances(count: number): void {
    this.instances -= count;
  }

  /** Counts the node as started. */
  nodeStarted(node: RuntimeNode, takesSlot: boolean): void {
    node.lifecycle.start(takesSlot);
    node.scope.activeNodes++;
    this.activeNodes++;
    if (takesSlot) this.slotsUsed++;
  }

  /** Counts the started node as ended. */
  nodeEnded(node: RuntimeNode): void {
    node.scope.activeNodes--;
    this.activeNodes--;
  }

  releaseSlot(node: RuntimeNode): void {
    if (!node.lifecycle.holdsSlot) return;
    node.lifecycle.releaseSlot();
    this.slotsUsed--;
  }
}
