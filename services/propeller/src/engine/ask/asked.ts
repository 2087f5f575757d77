import type { Question, QuestionKind, Settled } from "./question.js";

/** A question that a node has asked. */
export interface Asked {
  readonly question: Question;
  /** Of the last time that it was asked; answers to earlier times are ignored. */
  id: string;
  /** How often it was asked without an answer but an error. */
  tries: number;
  /** How often the answer was that it is too early. */
  waits: number;
  /** ms; since when an answer is wanted: anew after one that said that it is too early. */
  firstAskedAt: number;
  answer: Settled<unknown> | undefined;
  /** What the last transient error said. */
  error: string | undefined;
  /** ms; when it is asked again. */
  againAt: number | undefined;
  /** What admin's word about it names, see `wakes`. */
  readonly wokenBy: string | undefined;
  readonly release: "now" | "held";
}

/** How far a question has come, for who gives up after a bounded time. */
export type AskProgress = Readonly<Pick<Asked, "tries" | "firstAskedAt" | "error">>;

/** The questions of one node by their kinds: of each kind a node asks one at a time. */
export type NodeAsks = Map<QuestionKind, Asked>;

/** Names what a node waits for, so that admin's word finds it. */
export const wakes = {
  /** The end of the child execution of the node with this unique id. */
  child: (nodeId: string) => `child ${nodeId}`,
  signal: (signalId: string) => `signal ${signalId}`,
} as const;

/** ms; the earliest time at which something is to be asked again. */
export function askDueAt(asks: NodeAsks | undefined): number | undefined {
  let next: number | undefined;
  for (const { againAt } of asks?.values() ?? []) if (againAt !== undefined && (next === undefined || againAt < next)) next = againAt;
  return next;
}
