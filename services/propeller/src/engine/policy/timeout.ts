import type { NodeModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";
import { goDuration } from "../time/duration.js";

/** Deadlines in ms; 0 means none. */
export interface Deadlines {
  /** Deadline of one attempt, from the start of its run: queueing time does not count. */
  readonly execution: number;
  /** Deadline of the node over all attempts, from its queueing. */
  readonly active: number;
}

export interface TimeFacts {
  readonly queuedAt: number | undefined;
  readonly attemptStartedAt: number | undefined;
}

/**
 * `active` ends the node as TIMED_OUT; `execution` is a failure of the attempt, which may be
 * retried.
 */
export type TimeoutDecision =
  | { readonly kind: "active"; readonly message: string }
  | { readonly kind: "execution"; readonly message: string }
  | undefined;

export function deadlinesOf(node: NodeModel, config: EngineConfig): Deadlines {
  return {
    execution: node.executionDeadlineMs || config.defaultExecutionDeadline,
    active: node.activeDeadlineMs || config.defaultActiveDeadline,
  };
}

/** Checks the deadlines; the active deadline goes first, as it leaves no further attempt. */
export function decideTimeout(deadlines: Deadlines, facts: TimeFacts, now: number): TimeoutDecision {
  const { active, execution } = deadlines;
  if (active > 0 && facts.queuedAt !== undefined && now > facts.queuedAt + active) {
    return { kind: "active", message: `task active timeout [${goDuration(active)}] expired` };
  }
  if (execution > 0 && facts.attemptStartedAt !== undefined && now > facts.attemptStartedAt + execution) {
    return { kind: "execution", message: `task execution timeout [${goDuration(execution)}] expired` };
  }
  return undefined;
}

/** Earliest time at which `decideTimeout` may return a decision. */
export function nextDeadline({ active, execution }: Deadlines, facts: TimeFacts): number | undefined {
  const ends: number[] = [];
  if (active > 0 && facts.queuedAt !== undefined) ends.push(facts.queuedAt + active + 1);
  if (execution > 0 && facts.attemptStartedAt !== undefined) ends.push(facts.attemptStartedAt + execution + 1);
  return ends.length === 0 ? undefined : Math.min(...ends);
}
