import type { NodeModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";
import { goDuration } from "../time/duration.js";

/** Deadlines in ms; 0 means none. */
export interface Deadlines {
  /** Of one attempt, from when it began to run: time in a queue does not count. */
  readonly execution: number;
  /** Of the node over all attempts, from when it was queued. */
  readonly active: number;
}

export interface TimeFacts {
  readonly queuedAt: number | undefined;
  readonly attemptStartedAt: number | undefined;
}

/** `active` ends the node as TIMED_OUT; `execution` is a failure of the attempt, which a retry may follow. */
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

/** Whether time is up; the active deadline goes first, as it leaves no further attempt. */
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

/** First moment at which `decideTimeout` may say something. */
export function nextDeadline({ active, execution }: Deadlines, facts: TimeFacts): number | undefined {
  const ends: number[] = [];
  if (active > 0 && facts.queuedAt !== undefined) ends.push(facts.queuedAt + active + 1);
  if (execution > 0 && facts.attemptStartedAt !== undefined) ends.push(facts.attemptStartedAt + execution + 1);
  return ends.length === 0 ? undefined : Math.min(...ends);
}
