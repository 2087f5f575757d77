import type { Question, QuestionKind, Settled } from "./question.js";

/** A pending call of a node. */
export interface Asked {
  readonly question: Question;
  /** Id of the last try; results of earlier tries are ignored. */
  id: string;
  /** Number of tries that failed or had no result. */
  tries: number;
  /** Number of results that said "too early". */
  waits: number;
  /** Time since which a result is awaited, ms; restarts after each "too early". */
  firstAskedAt: number;
  answer: Settled<unknown> | undefined;
  /** Message of the last transient error. */
  error: string | undefined;
  /** Time of the next try, ms. */
  againAt: number | undefined;
  /** Key of admin's wake-up for this call, see `wakes`. */
  readonly wokenBy: string | undefined;
  readonly release: "now" | "held";
}

/** Progress of a call, for callers with a timeout. */
export type AskProgress = Readonly<Pick<Asked, "tries" | "firstAskedAt" | "error">>;

/** Pending calls of one node, at most one per kind. */
export type NodeAsks = Map<QuestionKind, Asked>;

/** Keys by which admin's wake-ups find the waiting node. */
export const wakes = {
  /** End of the child execution of the node with this unique id. */
  child: (nodeId: string) => `child ${nodeId}`,
  signal: (signalId: string) => `signal ${signalId}`,
} as const;

/** Earliest time of a retry, ms. */
export function askDueAt(asks: NodeAsks | undefined): number | undefined {
  let next: number | undefined;
  for (const { againAt } of asks?.values() ?? []) if (againAt !== undefined && (next === undefined || againAt < next)) next = againAt;
  return next;
}
