import { isTerminalTaskEvent, NodePhase } from "@flyte-ts/domain";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { outputsUri } from "../data/paths.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { ABORTED_OUTSIDE, decideTaskEvent, type AttemptDecision } from "../handler/task.js";
import { abortOfForgotten } from "../request/zombie.js";
import { attemptStarted } from "../status/update-phase.js";
import { toMillis } from "../time/rfc3339.js";
import { noteItemEvent, tellerOf } from "./array-news.js";
import { arm, sendFinalize } from "./attempt.js";
import { expands } from "./expand.js";
import { isCached } from "./caching.js";
import { land } from "./landing.js";
import { liveDeck } from "./live-deck.js";
import { noteRetryable, retryAfter } from "./next-attempt.js";
import { fitsInline, sizeOf, writeOutputs } from "./outputs.js";
import { abort, fail, succeed } from "./settle.js";
import { isStoppedFromAbove, noteAborted, stopFollowers } from "./stop.js";
import type { Walk } from "./walk.js";

// Minimum interval between abort requests to a zombie attempt of one node, ms: prevents reply loops.
const ZOMBIE_PAUSE = 5_000;

/** Handles a plugin service's report on an attempt. Old, duplicate and superseded events change nothing. */
export function takeTaskEvent(walk: Walk, told: TaskEvent): void {
  const place = find(walk.root, told.nodePath);
  const event = told.event;
  if (place === undefined || event === undefined) {
    walk.count("taskEventIgnored");
    return;
  }
  const { node, exact } = place;
  const sameNode = exact && event.parentNodeExecutionId?.nodeId === node.uniqueId;
  if (sameNode && event.retryAttempt === node.attempt && node.request !== undefined && !node.settled) {
    takeAttempt(walk, node, told);
    return;
  }
  walk.count("taskEventIgnored");
  const over = sameNode ? overSince(node, event.retryAttempt) : node.endedAt;
  if (over === undefined || mintedAt(told) <= over || walk.now < node.zombieAt + ZOMBIE_PAUSE) return;
  node.zombieAt = walk.now;
  const stop = abortOfForgotten(told, walk.now);
  if (stop !== undefined) walk.emit({ kind: "sendTask", request: stop });
}

/** Time at which an attempt of the node ended; undefined while it runs, or if it never existed. */
function overSince(node: RuntimeNode, attempt: number): number | undefined {
  if (node.settled) return node.endToldAt ?? node.endedAt;
  if (!node.begun) return undefined;
  return attempt < node.attempt || node.status.phase === NodePhase.RetryableFailure ? (node.endToldAt ?? node.retriedAt) : undefined;
}

function mintedAt({ event }: TaskEvent): number {
  return event?.reportedAt === undefined ? 0 : timestampMs(event.reportedAt);
}

/** Finds the node on a path or, where the graph below it is gone, its last existing ancestor. */
function find(root: Scope, path: string): { readonly node: RuntimeNode; readonly exact: boolean } | undefined {
  let scope: Scope | undefined = root;
  let node: RuntimeNode | undefined;
  for (const id of path.split("/")) {
    if (scope === undefined) return node === undefined ? undefined : { node, exact: false };
    node = scope.nodes.get(id);
    if (node === undefined) return undefined;
    scope = node.inner;
  }
  return node === undefined ? undefined : { node, exact: true };
}

function takeAttempt(walk: Walk, node: RuntimeNode, told: TaskEvent): void {
  const decision = decideTaskEvent(told, node.status.TaskNodeStatus, toMillis(walk.now));
  if (node.request !== undefined) node.request.heardAt = walk.now;
  if (isTerminalTaskEvent(told.event?.phase ?? TaskExecution_Phase.UNDEFINED)) node.endToldAt = mintedAt(told);
  if (decision.kind !== "ignore" && told.event !== undefined) noteItemEvent(walk, node, told.event);
  switch (decision.kind) {
    case "ignore":
      walk.count("taskEventIgnored");
      return;
    case "progress":
      progress(walk, node, decision);
      return;
    case "succeed":
      node.request = undefined;
      attemptSucceeded(walk, node, decision);
      return;
    case "fail":
      node.request = undefined;
      attemptFailed(walk, node, decision);
      return;
    case "expand":
      node.request = undefined;
      attemptExpands(walk, node, decision.deckUri);
      return;
    case "aborted":
      node.request = undefined;
      if (node.stopping === undefined) attemptFailed(walk, node, ABORTED);
      else stopped(walk, node);
      return;
  }
}

const ABORTED: Extract<AttemptDecision, { kind: "fail" }> = {
  kind: "fail",
  error: ABORTED_OUTSIDE,
  recoverable: true,
  cleanup: false,
  deckUri: "",
};

function progress(walk: Walk, node: RuntimeNode, { task }: Extract<AttemptDecision, { kind: "progress" }>): void {
  if (node.request !== undefined) node.request.tries = 1;
  const begins = node.attemptStartedAt === undefined && node.stopping === undefined;
  const firstAttempt = node.status.startedAt === undefined;
  const status = begins ? attemptStarted(node.status, walk.now) : node.status;
  if (begins) node.attemptStartedAt = walk.now;
  walk.setNode(node, { ...status, TaskNodeStatus: task });
  if (begins && firstAttempt)
    walk.tell.node(node, NodeExecution_Phase.RUNNING, { deckUri: liveDeck(walk, node), cache: node.cache }, "now");
  arm(walk, node);
}

function attemptSucceeded(walk: Walk, node: RuntimeNode, { outputs, deckUri: deck }: Extract<AttemptDecision, { kind: "succeed" }>): void {
  const uri = outputs.uri === "" ? outputsUri(node.attemptDir) : outputs.uri;
  const stoppedFromAbove = isStoppedFromAbove(node);
  const small = outputs.value !== undefined && fitsInline(walk, sizeOf(outputs.value));
  if (outputs.value !== undefined && !small && !stoppedFromAbove) {
    node.stopping = undefined;
    const keeps = node.scope.array !== undefined && sizeOf(outputs.value) <= walk.config.inlineLimit;
    writeOutputs(walk, node, outputs.value, { value: keeps ? outputs.value : undefined, deckUri: deck });
    return;
  }
  if (!stoppedFromAbove && isCached(walk, node)) {
    node.stopping = undefined;
    node.pendingOutputs = { value: small ? outputs.value : undefined, deckUri: deck, uri, stored: !small };
    land(walk, node);
    return;
  }
  const { unconfirmed } = node;
  walk.prompt = true;
  // A node being aborted waits for no blob: its outputs stay in the status, whatever their size.
  const value = small || stoppedFromAbove ? outputs.value : undefined;
  succeed(walk, node, { outputs: { value, uri }, deckUri: deck });
  if (walk.config.deleteResourcesOnFinalize) sendFinalize(walk, node, { attempt: node.attempt, remove: true });
  if (unconfirmed) stopFollowers(walk, node);
}

/** A node that is being aborted starts no graph. */
function attemptExpands(walk: Walk, node: RuntimeNode, deckUri: string): void {
  if (walk.config.deleteResourcesOnFinalize) sendFinalize(walk, node, { attempt: node.attempt, remove: true });
  if (node.stopping !== undefined) stopped(walk, node);
  else if (tellerOf(node) === undefined) expands(walk, node, deckUri);
  else fail(walk, node, DYNAMIC_ITEM);
}

/** Nodes below an item would have no published parent. */
const DYNAMIC_ITEM = { code: "UnsupportedDynamicItem", kind: "USER", message: "the task of a map made a dynamic workflow" };

function attemptFailed(
  walk: Walk,
  node: RuntimeNode,
  { error, recoverable, cleanup, deckUri: deck }: Extract<AttemptDecision, { kind: "fail" }>,
): void {
  if (node.stopping !== undefined) {
    stopped(walk, node);
    return;
  }
  const decision = recoverable ? retryAfter(walk, node, error) : ({ retry: false, error } as const);
  if (decision.retry) {
    noteRetryable(walk, node, error, { ended: true, clean: cleanup });
    return;
  }
  const remove = cleanup || walk.config.deleteResourcesOnFinalize;
  if (remove) sendFinalize(walk, node, { attempt: node.attempt, remove });
  fail(walk, node, decision.error, { deckUri: deck, attemptEnded: true });
}

/** Handles the end of an attempt whose node is being aborted. */
function stopped(walk: Walk, node: RuntimeNode): void {
  if (!isStoppedFromAbove(node)) {
    walk.look(node);
    return;
  }
  noteAborted(walk, node, toMillis(walk.now));
  abort(walk, node, node.stopping ?? "");
}
