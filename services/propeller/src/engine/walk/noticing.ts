import { isTerminalWorkflow } from "@flyte-ts/domain";
import type { Asked } from "../ask/asked.js";
import { boundMessage, MAX_STATUS_MESSAGE } from "../failure/bound-message.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { toSeconds } from "../time/rfc3339.js";
import type { Walk } from "./walk.js";

// What an execution waits for is told to its owner: the status holds what was told
// last, so that a restart neither tells it anew as a change nor leaves it standing.

/** Failures in a row that are no news: what was away for a moment is there again. */
const PATIENCE = 3;

/** The node's attempt waits for a plugin service. */
export function noticeWaiting(walk: Walk, node: RuntimeNode, reason: string): void {
  const holds = () =>
    !node.settled && node.waitingSince !== undefined && node.attemptStartedAt === undefined && node.stopping === undefined;
  walk.hindrances.set(node, { text: `node ${node.path}: ${reason}`, holds });
}

/** A blob could not be read or written. */
export function noticeBlob(walk: Walk, uri: string, message: string): void {
  const tries = () => Math.max(walk.blobs.failures(uri), walk.writes.get(uri)?.tries ?? 0);
  hindered(walk, uri, { message, by: "the blob store", tries });
}

/** A question could not be answered. */
export function noticeQuestion(walk: Walk, node: RuntimeNode, asked: Asked): void {
  const tries = () => (!node.settled && node.asks?.get(asked.question.kind) === asked && asked.answer === undefined ? asked.tries : 0);
  hindered(walk, asked, { message: `node ${node.path}: ${asked.error ?? ""}`, by: asked.question.kind, tries });
}

interface Failing {
  readonly message: string;
  readonly by: string;
  /** Failures in a row as of now. */
  readonly tries: () => number;
}

function hindered(walk: Walk, subject: unknown, { message, by, tries }: Failing): void {
  if (tries() < PATIENCE || walk.hindrances.has(subject)) return;
  const text = `${by} has failed since ${toSeconds(walk.now)} and is tried again, less and less often: ${message}`;
  walk.hindrances.set(subject, { text, holds: () => tries() > 0 });
  walk.note("Warning", "Waits", text);
}

/** At the end of an observation: tells what is in the way, where that has changed. */
export function tellNotice(walk: Walk): void {
  if (walk.finishing !== "no" || isTerminalWorkflow(walk.status.phase)) return;
  const reason = boundMessage(walk.hindrances.first() ?? "", MAX_STATUS_MESSAGE);
  const changed = reason !== (walk.status.notice ?? "");
  if (!changed && !walk.noticeUntold) return;
  walk.noticeUntold = false;
  if (changed) walk.setWorkflow({ ...walk.status, notice: reason });
  walk.tell.notice(reason);
}
