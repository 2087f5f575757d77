import type { Asked, AskProgress } from "../ask/asked.js";
import type { Answer, QuestionKind, QuestionOf, Settled, ValueOf } from "../ask/question.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { AwaitedAgain } from "../config.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { arm } from "./attempt.js";
import { noticeQuestion } from "./noticing.js";
import type { Release, Walk } from "./walk.js";

// Calls of nodes, executed by the shell. They are not in the status: after a restart a node derives its calls from its status.

export interface AskOptions {
  /** `held` for calls with side effects: only after the status that justifies them is durable. */
  readonly release?: Release;
  /** Key of the wake-up that triggers a retry, see `wakes`. */
  readonly wokenBy?: string;
}

/**
 * Returns the result if known; else starts the call, if it is not pending, and enqueues the node when the result
 * arrives. A node has one pending call per kind; cancel it with `forget` before another of that kind.
 */
export function ask<K extends QuestionKind>(
  walk: Walk,
  node: RuntimeNode,
  question: QuestionOf<K>,
  { release = "now", wokenBy }: AskOptions = {},
): Settled<ValueOf<K>> | undefined {
  const known = node.asks?.get(question.kind);
  if (known !== undefined) return known.answer as Settled<ValueOf<K>> | undefined;
  const asked: Asked = {
    question: question as Asked["question"],
    id: "",
    tries: 0,
    waits: 0,
    firstAskedAt: walk.now,
    answer: undefined,
    error: undefined,
    againAt: undefined,
    wokenBy,
    release,
  };
  node.asks ??= new Map();
  node.asks.set(question.kind, asked);
  if (wokenBy !== undefined) listen(walk, node, wokenBy);
  send(walk, node, asked);
  return undefined;
}

/** Progress of a node's pending call; undefined when there is none. */
export function askProgress(node: RuntimeNode, kind: QuestionKind): AskProgress | undefined {
  return node.asks?.get(kind);
}

/** Retries the call at the given time, or on a wake-up: the result said that it is too early. */
export function askAgainAt(walk: Walk, node: RuntimeNode, { kind, at }: { readonly kind: QuestionKind; readonly at: number }): void {
  const asked = node.asks?.get(kind);
  if (asked === undefined) return;
  asked.answer = undefined;
  asked.firstAskedAt = at;
  asked.againAt = at;
  arm(walk, node);
}

/** Retries on a wake-up, or after a backoff: the result said that it is too early. */
export function awaitWord(walk: Walk, node: RuntimeNode, kind: keyof AwaitedAgain): void {
  const asked = node.asks?.get(kind);
  if (asked === undefined) return;
  const pause = backoffDelay(walk.config.awaitedAgain[kind], asked.waits++, walk.config.random);
  askAgainAt(walk, node, { kind, at: walk.now + pause });
}

/** Cancels the call; a result that still arrives is ignored. */
export function forget(walk: Walk, node: RuntimeNode, kind: QuestionKind): void {
  const asked = node.asks?.get(kind);
  if (asked === undefined) return;
  walk.asked.delete(asked.id);
  if (asked.wokenBy !== undefined) unlisten(walk, node, asked.wokenBy);
  node.asks?.delete(kind);
  if (node.asks?.size === 0) node.asks = undefined;
}

/** Cancels all calls at the end of the node or its attempt. */
export function forgetAll(walk: Walk, node: RuntimeNode): void {
  for (const kind of node.asks?.keys() ?? []) forget(walk, node, kind);
}

/** Handles a result from the shell. */
export function takeAnswer(walk: Walk, id: string, answer: Answer): void {
  const waiting = walk.asked.get(id);
  if (waiting === undefined) return;
  walk.asked.delete(id);
  const { node, asked } = waiting;
  if (answer.kind === "error") {
    asked.error = answer.message;
    asked.againAt = walk.now + backoffDelay(walk.config.askRetry, asked.tries - 1, walk.config.random);
    arm(walk, node);
    noticeQuestion(walk, node, asked);
  } else {
    asked.tries = 0;
    asked.error = undefined;
    asked.answer = answer;
  }
  // Also after an error: the caller may have reached its timeout.
  walk.look(node);
}

/** Handles a wake-up from admin: results of earlier calls may be outdated. */
export function wake(walk: Walk, wokenBy: string): void {
  for (const node of walk.listening.get(wokenBy) ?? []) {
    for (const asked of node.asks?.values() ?? []) {
      if (asked.wokenBy !== wokenBy || asked.answer !== undefined) continue;
      walk.asked.delete(asked.id);
      send(walk, node, asked);
    }
  }
}

/** Retries the calls that are due. */
export function asksDue(walk: Walk, node: RuntimeNode): void {
  for (const asked of node.asks?.values() ?? []) if (asked.againAt !== undefined && asked.againAt <= walk.now) send(walk, node, asked);
}

function send(walk: Walk, node: RuntimeNode, asked: Asked): void {
  asked.id = walk.nextAskId();
  asked.tries++;
  asked.againAt = undefined;
  walk.asked.set(asked.id, { node, asked });
  walk.emit({ kind: "ask", id: asked.id, ask: asked.question }, asked.release);
}

function listen(walk: Walk, node: RuntimeNode, wokenBy: string): void {
  const listeners = walk.listening.get(wokenBy);
  if (listeners === undefined) walk.listening.set(wokenBy, new Set([node]));
  else listeners.add(node);
}

function unlisten(walk: Walk, node: RuntimeNode, wokenBy: string): void {
  const listeners = walk.listening.get(wokenBy);
  listeners?.delete(node);
  if (listeners?.size === 0) walk.listening.delete(wokenBy);
}
