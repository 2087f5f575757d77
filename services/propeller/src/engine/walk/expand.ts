import { create } from "@bufbuild/protobuf";
import { NodePhase, TaskPhase } from "@flyte-ts/domain";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { DynamicWorkflow } from "../ask/dynamic.js";
import type { Settled } from "../ask/question.js";
import { compiledUri, futuresUri } from "../data/paths.js";
import { START_NODE } from "../graph/index-graph.js";
import { depthOf, type RuntimeNode, type Scope } from "../graph/runtime.js";
import { subWorkflowEnded } from "../handler/sub-workflow.js";
import { dynamicWorkflowId } from "../request/dynamic-workflow.js";
import { changePhase } from "../status/update-phase.js";
import { toMillis } from "../time/rfc3339.js";
import { arm } from "./attempt.js";
import { ask, forget } from "./asking.js";
import { restoreScope, reviveInner } from "./load.js";
import { writeOutputs } from "./outputs.js";
import { scan } from "./scan.js";
import { enterScope, hasRoomFor, tooManyInstances } from "./scope.js";
import { fail, releaseSlot, succeed } from "./settle.js";
import { stopScope } from "./stop.js";
import type { Walk } from "./walk.js";

// A dynamic node is a task whose attempt ends with a spec of further nodes: the spec becomes a graph below it, and the
// node ends as that graph does.

// `dynamicNodeStatus.phase`
const EXECUTING = 1;
const PARENT_FINALIZED = 4;

/** The attempt has ended and its spec must be read. Nodes below it take slots of their own. */
export function expands(walk: Walk, node: RuntimeNode, deckUri: string): void {
  node.deckUri = deckUri;
  releaseSlot(walk, node);
  const task = { ...node.status.TaskNodeStatus, phase: TaskPhase.Success, updAt: toMillis(walk.now) };
  walk.setNode(node, {
    ...changePhase(node.status, { phase: NodePhase.Running, message: "dynamic", now: walk.now }),
    TaskNodeStatus: task,
    dynamicNodeStatus: { phase: PARENT_FINALIZED },
  });
  arm(walk, node);
  walk.look(node);
}

/** True when the graph must be read before the node can continue or be aborted. */
export function awaitsGraph({ status, inner, stopping }: RuntimeNode): boolean {
  // With the next attempt scheduled, the last one has ended.
  if (status.dynamicNodeStatus === undefined || inner !== undefined || status.retryAt !== undefined) return false;
  // A graph that was never entered needs no abort.
  const goesOn = stopping === undefined && status.phase !== NodePhase.RetryableFailure;
  return goesOn || status.dynamicNodeStatus.phase !== PARENT_FINALIZED;
}

/** Reads the graph and enters it; after a restart, with the stored statuses of its nodes. */
export function expand(walk: Walk, node: RuntimeNode): void {
  const { status } = node;
  const entered = status.dynamicNodeStatus?.phase !== PARENT_FINALIZED;
  if (!entered && depthOf(node.scope) >= walk.config.maxDynamicDepth) {
    buildFailed(walk, node, `[User] dynamic workflows are nested more than ${walk.config.maxDynamicDepth} deep`);
    return;
  }
  const parent = walk.templateOf(node);
  if (parent === undefined) return;
  const answer = ask(walk, node, {
    kind: "readDynamic",
    attemptDir: node.attemptDir,
    id: dynamicWorkflowId(walk.model, node),
    parent,
    options: walk.model.options,
    compiledBefore: entered || node.unconfirmed,
  });
  if (answer === undefined) return;
  forget(walk, node, "readDynamic");
  if (answer.kind === "refused") refused(walk, node, answer);
  else enter(walk, node, answer.value);
}

/** Completes the abort of a node without its graph: nothing in the graph can be known. */
function refused(walk: Walk, node: RuntimeNode, { message }: Pick<Extract<Settled<never>, { kind: "refused" }>, "message">): void {
  if (node.stopping === undefined) {
    buildFailed(walk, node, message);
    return;
  }
  const { dynamicNodeStatus: _d, subNodeStatus: _s, ...status } = node.status;
  walk.setNode(node, status);
  walk.look(node);
}

function buildFailed(walk: Walk, node: RuntimeNode, message: string): void {
  fail(walk, node, { code: "DynamicWorkflowBuildFailed", kind: "USER", message });
}

function enter(walk: Walk, node: RuntimeNode, { model, closure }: DynamicWorkflow): void {
  const { stopping } = node;
  if (!hasRoomFor(walk, model.root.nodes.size)) {
    refused(walk, node, tooManyInstances(walk, model.root.nodes.size));
    return;
  }
  node.expanded = true;
  const { subNodeStatus, ...own } = node.status;
  const failing = own.dynamicNodeStatus?.phase === 2 ? own.dynamicNodeStatus : undefined;
  node.status = own;
  const { subNodeStatus: _, ...written } = node.written;
  node.written = written;
  if (stopping === undefined && failing === undefined) {
    const next = changePhase(own, { phase: NodePhase.DynamicRunning, now: walk.now });
    walk.setNode(node, { ...next, dynamicNodeStatus: { phase: EXECUTING } });
  }
  walk.tell.node(
    node,
    NodeExecution_Phase.DYNAMIC_RUNNING,
    {
      deckUri: node.deckUri,
      dynamic: { id: dynamicWorkflowId(walk.model, node), compiledWorkflow: closure, dynamicJobSpecUri: futuresUri(node.attemptDir) },
      dynamicUri: closure === undefined ? compiledUri(node.attemptDir) : undefined,
    },
    "held",
  );
  const inner = enterScope(walk, model.root, node, model);
  // All external inputs of its nodes are bound in the graph itself.
  inner.inputs = create(LiteralMapSchema);
  if (inner.broken) {
    fail(walk, node, { code: "MalformedDynamicWorkflow", kind: "SYSTEM", message: "no end-node found in dynamic workflow" });
    return;
  }
  if (subNodeStatus !== undefined) {
    restoreScope(walk, inner, subNodeStatus);
    node.innerWritten = inner;
    if (failing !== undefined) {
      inner.stage = "stop";
      inner.error = failing.error ?? { code: "DynamicNodeFailing", kind: "UNKNOWN", message: failing.reason ?? "" };
    }
    reviveInner(walk, inner);
  }
  if (stopping !== undefined) {
    stopScope(walk, inner, stopping);
    walk.look(node);
    return;
  }
  const start = inner.nodes.get(START_NODE);
  if (subNodeStatus !== undefined) scan(walk, inner);
  else if (start !== undefined) walk.look(start);
  walk.lookAt(inner);
  arm(walk, node);
}

/**
 * End of the graph: its outputs become the node's. They are written to the node's outputs location, which the attempt,
 * having ended without outputs, names.
 */
export function collapse(walk: Walk, node: RuntimeNode, inner: Scope): void {
  const decision = subWorkflowEnded(node, inner);
  if (decision.kind === "fail") {
    fail(walk, node, decision.error, { deckUri: node.deckUri });
    return;
  }
  if (decision.kind !== "succeed") return;
  const { outputs } = decision;
  if (outputs === undefined || inner.graph.outputBindings.length === 0) {
    succeed(walk, node, { outputs: undefined, deckUri: node.deckUri });
    return;
  }
  const value = outputs.value ?? walk.blobs.outputs(outputs.uri);
  if (value === undefined) {
    wantOutputs(walk, node, outputs.uri);
    return;
  }
  walk.blobs.release(node);
  writeOutputs(walk, node, value, { value, deckUri: node.deckUri });
}

function wantOutputs(walk: Walk, node: RuntimeNode, uri: string): void {
  const lost = walk.blobs.lost(uri);
  if (lost !== undefined) {
    fail(walk, node, { code: "OutputsNotFound", kind: "SYSTEM", message: `Failed to copy subworkflow outputs: ${lost}` });
    return;
  }
  const effect = walk.blobs.want(node, "outputs", uri);
  if (effect !== undefined) walk.emit(effect);
}
