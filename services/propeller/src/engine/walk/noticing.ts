import { isTerminalWorkflow } from "@flyte-ts/domain";
import type { Asked } from "../ask/asked.js";
import { boundMessage, MAX_STATUS_MESSAGE } from "../failure/bound-message.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { toSeconds } from "../time/rfc3339.js";
import type { Walk } from "./walk.js";

// Publishes blockers to the execution's owner: the status holds the last published reason, so that a restart neither
// repeats it as a change nor leaves it published.

/** Consecutive failures that are not reported, for short outages. */
const PATIENCE = 3;

/** Adds the blocker of an attempt that waits for a plugin service. */
export function noticeWaiting(walk: Walk, node: RuntimeNode, reason: string): void {
  const holds = () =>
    !node.settled && node.waitingSince !== undefined && node.attemptStartedAt === undefined && node.stopping === undefined;
  walk.hindrances.set(node, { text: `node ${node.path}: ${reason}`, holds });
}

/** Adds the blocker of a blob that could not be read or written. */
export function noticeBlob(walk: Walk, uri: string, message: string): void {
  const tries = () => Math.max(walk.blobs.failures(uri), walk.writes.get(uri)?.tries ?? 0);
  hindered(walk, uri, { message, by: "the blob store", tries });
}

/** Adds the blocker of a failing call. */
export function noticeQuestion(walk: Walk, node: RuntimeNode, asked: Asked): void {
  const tries = () => (!node.settled && node.asks?.get(asked.question.kind) === asked && asked.answer === undefined ? asked.tries : 0);
  hindered(walk, asked, { message: `node ${node.path}: ${asked.error ?? ""}`, by: asked.question.kind, tries });
}

interface Failing {
  readonly message: string;
  readonly by: string;
  /** Current number of consecutive failures. */
  readonly tries: () => number;
}

function hindered(walk: Walk, subject: unknown, { message, by, tries }: Failing): void {
  if (tries() < PATIENCE || walk.hindrances.has(subject)) return;
  const text = `${by} has failed since ${toSeconds(walk.now)} and is tried again, less and less often: ${message}`;
  walk.hindrances.set(subject, { text, holds: () => tries() > 0 });
  walk.note("Warning", "Waits", text);
}

/** At the end of an observation: publishes the blocker if it has changed. */
export function tellNotice(walk: Walk): void {
  if (walk.finishing !== "no" || isTerminalWorkflow(walk.status.phase)) return;
  const reason = boundMessage(walk.hindrances.first() ?? "", MAX_STATUS_MESSAGE);
  const changed = reason !== (walk.status.notice ?? "");
  if (!changed && !walk.noticeUntold) return;
  walk.noticeUntold = false;
  if (changed) walk.setWorkflow({ ...walk.status, notice: reason });
  walk.tell.notice(reason);
}
