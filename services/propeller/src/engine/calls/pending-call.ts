import type { Call, CallKind, CallOutcome } from "./call.js";

/** A pending call of a node. */
export interface PendingCall {
  readonly call: Call;
  /** Id of the last try; results of earlier tries are ignored. */
  callId: string;
  /** Number of tries that failed or had no result. */
  attempts: number;
  /** Number of results that said "too early". */
  polls: number;
  /** Time from which the wait for a result counts, ms; restarts after each "too early". */
  firstSentAt: number;
  result: CallOutcome<unknown> | undefined;
  /** Message of the last transient error. */
  error: string | undefined;
  /** Time of the next try, ms. */
  retryAt: number | undefined;
  /** Key of admin's wake-up for this call, see `wakeupKeys`. */
  readonly wakeupKey: string | undefined;
  readonly timing: "immediate" | "afterWrite";
}

/** Progress of a call, for callers with a timeout. */
export type CallProgress = Readonly<Pick<PendingCall, "attempts" | "firstSentAt" | "error">>;

/** Pending calls of one node, at most one per kind. */
export type PendingCalls = Map<CallKind, PendingCall>;

/** Keys by which admin's wake-ups find the waiting node. */
export const wakeupKeys = {
  /** End of the child execution of the node with this unique id. */
  child: (nodeId: string) => `child ${nodeId}`,
  signal: (signalId: string) => `signal ${signalId}`,
} as const;

/** Earliest time of a retry, ms. */
export function nextCallRetryAt(calls: PendingCalls | undefined): number | undefined {
  let next: number | undefined;
  for (const { retryAt } of calls?.values() ?? []) if (retryAt !== undefined && (next === undefined || retryAt < next)) next = retryAt;
  return next;
}
