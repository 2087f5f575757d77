import type { Asked, AskProgress } from "../ask/asked.js";
import type { Answer, QuestionKind, QuestionOf, Settled, ValueOf } from "../ask/question.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { AwaitedAgain } from "../config.js";
import { backoffDelay } from "../retry/backoff.js";
import { arm } from "./attempt.js";
import { noticeQuestion } from "./noticing.js";
import type { Release, Walk } from "./walk.js";

// Questions of nodes to the shell. Nothing of them is kept in the status: after a
// restart a node asks anew what its status leads it to ask.

export interface AskOptions {
  /** `held` for what changes the world: not before the status that leads to it is durable. */
  readonly release?: Release;
  /** Asked again when admin tells of this, see `wakes`. */
  readonly wokenBy?: string;
}

/**
 * The answer, when it is known; else the question is asked, if it was not yet, and
 * the node is looked at again when something is known. A node asks one question of
 * each kind at a time; to ask another of the kind, forget the first.
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

/** How far a question that the node has asked has come; undefined when it has not asked. */
export function askProgress(node: RuntimeNode, kind: QuestionKind): AskProgress | undefined {
  return node.asks?.get(kind);
}

/** The answer says that it is too early: asked again then, or when admin tells of it. */
export function askAgainAt(walk: Walk, node: RuntimeNode, { kind, at }: { readonly kind: QuestionKind; readonly at: number }): void {
  const asked = node.asks?.get(kind);
  if (asked === undefined) return;
  asked.answer = undefined;
  asked.firstAskedAt = at;
  asked.againAt = at;
  arm(walk, node);
}

/** Asks again when admin tells of it, or after a pause: the answer said that it is too early. */
export function awaitWord(walk: Walk, node: RuntimeNode, kind: keyof AwaitedAgain): void {
  const asked = node.asks?.get(kind);
  if (asked === undefined) return;
  const pause = backoffDelay(walk.config.awaitedAgain[kind], asked.waits++, walk.config.random);
  askAgainAt(walk, node, { kind, at: walk.now + pause });
}

/** The node does not want to know any more; an answer that is still to come is ignored. */
export function forget(walk: Walk, node: RuntimeNode, kind: QuestionKind): void {
  const asked = node.asks?.get(kind);
  if (asked === undefined) return;
  walk.asked.delete(asked.id);
  if (asked.wokenBy !== undefined) unlisten(walk, node, asked.wokenBy);
  node.asks?.delete(kind);
  if (node.asks?.size === 0) node.asks = undefined;
}

/** The node ends, or its attempt does. */
export function forgetAll(walk: Walk, node: RuntimeNode): void {
  for (const kind of node.asks?.keys() ?? []) forget(walk, node, kind);
}

/** The shell has answered. */
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
  // After an error too: who asks may have waited long enough.
  walk.look(node);
}

/** Admin tells that something has happened which nodes may wait for: what was asked before may be out of date. */
export function wake(walk: Walk, wokenBy: string): void {
  for (const node of walk.listening.get(wokenBy) ?? []) {
    for (const asked of node.asks?.values() ?? []) {
      if (asked.wokenBy !== wokenBy || asked.answer !== undefined) continue;
      walk.asked.delete(asked.id);
      send(walk, node, asked);
    }
  }
}

/** Asks again what is due. */
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
