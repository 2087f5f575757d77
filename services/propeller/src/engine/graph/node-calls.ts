import type { CallKind } from "../calls/call.js";
import type { PendingCall, PendingCalls } from "../calls/pending-call.js";
import type { PriorNode } from "../calls/recovery.js";
import type { NodeCache } from "./node-cache.js";

/**
 * Child execution of the current attempt: requested, possibly without a response, or known to exist
 * and not known to have ended.
 */
export type ChildState = "none" | "requested" | "exists";

/** Calls of a node to other services, and their results. */
export class NodeCalls {
  pending: PendingCalls | undefined;
  /** Cache state, once known. */
  cache: NodeCache | undefined;
  /** The node's outcome in the recovered execution was requested. */
  recoveryChecked = false;
  /** Outcome in the recovered execution, when it is reused. */
  recoveredFrom: PriorNode | undefined;
  /** Checkpoint location of the failed node in the recovered execution. */
  priorCheckpointUri: string | undefined;
  childState: ChildState = "none";
  /** The current attempt has, or had, a child execution; for events. */
  hasChildExecution = false;

  add(pending: PendingCall): void {
    this.pending ??= new Map();
    this.pending.set(pending.call.kind, pending);
  }

  remove(kind: CallKind): void {
    this.pending?.delete(kind);
    if (this.pending?.size === 0) this.pending = undefined;
  }

  setCache(cache: NodeCache): void {
    this.cache = cache;
  }

  markRecoveryChecked(): void {
    this.recoveryChecked = true;
  }

  reuse(prior: PriorNode): void {
    this.recoveredFrom = prior;
  }

  continueFrom(checkpointUri: string): void {
    this.priorCheckpointUri = checkpointUri;
  }

  setChildState(state: ChildState): void {
    this.childState = state;
  }

  /** Notes that the child exists. */
  childCreated(): void {
    this.childState = "exists";
    this.hasChildExecution = true;
  }

  setHasChildExecution(has: boolean): void {
    this.hasChildExecution = has;
  }

  /** Resets the child's state for the next attempt. */
  resetChild(): void {
    this.childState = "none";
    this.hasChildExecution = false;
  }

  /** Drops the state that only an unfinished node needs. */
  end(): void {
    this.cache = undefined;
    this.recoveredFrom = undefined;
  }

  /** Resets all calls, since the node starts again. */
  reset(): void {
    this.cache = undefined;
    this.recoveryChecked = false;
    this.resetChild();
  }
}
