import type { Scope } from "./runtime.js";

/** Graph below a node. */
export class NodeGraph {
  /** Scope below the node while it runs. */
  scope: Scope | undefined;
  /** Scope whose node statuses the resource holds below this node. */
  persisted: Scope | undefined;
  /** The current attempt produced a graph, which runs or ran below it. */
  isDynamic = false;

  enter(scope: Scope): void {
    this.scope = scope;
  }

  leave(): void {
    this.scope = undefined;
  }

  setPersisted(scope: Scope | undefined): void {
    this.persisted = scope;
  }

  markDynamic(): void {
    this.isDynamic = true;
  }

  /** The next attempt has produced no graph yet. */
  resetDynamic(): void {
    this.isDynamic = false;
  }
}
