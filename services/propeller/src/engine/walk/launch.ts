import { NodePhase } from "@flyte-ts/domain";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { wakes } from "../ask/asked.js";
import type { Settled } from "../ask/question.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { cascadeCause, childEnded, childUnknown, launchRefused } from "../handler/launch-plan.js";
import { childExecutionId, childExecutionRequest } from "../request/child-execution.js";
import { ask, askProgress, awaitWord, forget } from "./asking.js";
import { inputsBeside } from "./input-place.js";
import { inputsOf } from "./outputs.js";
import { running, succeedWithOutputs } from "./progress.js";
import { fail } from "./settle.js";
import type { Walk } from "./walk.js";

// A launch plan node starts a child execution. Its name is derived from the node and its attempt, so that creating it is idempotent.

/** Reconciles the node: requests its child, and ends as that does. Called again when a result arrives. */
export function launch(walk: Walk, node: RuntimeNode, launchPlan: Identifier): void {
  if (node.child === "none") node.child = "asked";
  if (node.child === "asked") {
    if (askProgress(node, "createExecution") === undefined) tellQueuedAgain(walk, node);
    const created = askToCreate(walk, node, { launchPlan, inputs: node.inputs });
    if (created === undefined) return;
    if (created.kind === "refused") {
      node.child = "none";
      const refused = launchRefused(created);
      if (refused.kind === "fail") fail(walk, node, refused.error);
      return;
    }
  }
  if (node.attemptStartedAt === undefined) {
    running(walk, node, { workflowNodeStatus: { phase: 1 } });
  }
  awaitChild(walk, node);
}

/**
 * Publishes again, after a restart, the node that the child will name as its parent: the event may have been lost with
 * the process before.
 */
function tellQueuedAgain(walk: Walk, node: RuntimeNode): void {
  if (!node.unconfirmed || node.status.phase !== NodePhase.Queued) return;
  walk.tell.node(node, NodeExecution_Phase.QUEUED, { inputs: inputsBeside(walk, node), cache: node.cache }, "now");
}

interface Launch {
  readonly launchPlan: Identifier;
  readonly inputs: LiteralMap | undefined;
}

/** Retries until it is certain whether the child exists. */
function askToCreate(walk: Walk, node: RuntimeNode, { launchPlan, inputs }: Launch): Settled<"created" | "exists"> | undefined {
  if (inputs === undefined) return undefined;
  const request = childExecutionRequest(node, { workflow: walk.model, launchPlan, inputs });
  const created = ask(walk, node, { kind: "createExecution", request }, { release: "held" });
  if (created?.kind !== "value") return created;
  forget(walk, node, "createExecution");
  node.child = "made";
  node.launched = true;
  return created;
}

function awaitChild(walk: Walk, node: RuntimeNode): void {
  const child = readChild(walk, node);
  if (child === undefined) return;
  if (child.kind === "refused") {
    node.child = "none";
    fail(walk, node, childUnknown(node, child).error);
    return;
  }
  const decision = childEnded(node, child.value, childExecutionId(walk.model, node).name);
  switch (decision.kind) {
    case "succeed":
      node.child = "none";
      forget(walk, node, "readExecution");
      succeedWithOutputs(walk, node, decision);
      return;
    case "fail":
      node.child = "none";
      fail(walk, node, decision.error);
      return;
    default:
      awaitWord(walk, node, "readExecution");
  }
}

function readChild(walk: Walk, node: RuntimeNode) {
  const id = childExecutionId(walk.model, node);
  return ask(walk, node, { kind: "readExecution", id }, { wokenBy: wakes.child(node.uniqueId) });
}

/**
 * Terminates the child of a node that is being aborted, and waits until it has ended. Repeats the creation request
 * while its outcome is unknown: a child created after its abort was requested would keep running.
 */
export function stopLaunch(walk: Walk, node: RuntimeNode, launchPlan: Identifier): void {
  if (node.child === "asked" && walk.forgetsChildren) node.child = "none";
  if (node.child === "asked") {
    node.inputs ??= boundInputs(walk, node);
    const created = askToCreate(walk, node, { launchPlan, inputs: node.inputs });
    if (created?.kind === "refused") {
      forget(walk, node, "createExecution");
      node.child = "none";
    }
  }
  if (node.child === "made") askToStop(walk, node);
  if (node.child === "none") walk.look(node);
}

/** A creation without inputs cannot be repeated: then only terminates a child that may exist. */
function boundInputs(walk: Walk, node: RuntimeNode): LiteralMap | undefined {
  const bound = inputsOf(walk, node);
  if (bound.kind === "waiting") return undefined;
  walk.blobs.release(node);
  if (bound.kind === "error") node.child = "made";
  return bound.kind === "ready" ? bound.inputs : undefined;
}

function askToStop(walk: Walk, node: RuntimeNode): void {
  const id = childExecutionId(walk.model, node);
  const cause = cascadeCause(walk.model.name, node.stopping ?? "");
  const stopped = ask(walk, node, { kind: "terminateExecution", id, cause }, { release: "held" });
  if (stopped === undefined) return;
  if (stopped.kind === "value" && stopped.value === "asked") {
    const child = readChild(walk, node);
    if (child === undefined) return;
    if (child.kind === "value" && child.value.phase === "running") {
      awaitWord(walk, node, "readExecution");
      return;
    }
  }
  forget(walk, node, "terminateExecution");
  forget(walk, node, "readExecution");
  node.child = "none";
}
