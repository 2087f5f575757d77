import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { resolveBindings, type BoundInputs } from "@flyte-ts/domain";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { outputsUri } from "../data/paths.js";
import { withFailure } from "../failure/failure-input.js";
import { armsOf } from "../graph/arms.js";
import { END_NODE, START_NODE } from "../graph/index-graph.js";
import type { PendingOutputs, RuntimeNode, Scope } from "../graph/runtime.js";
import type { NodeOutputs } from "../handler/decision.js";
import { listsByValue, ownInputs } from "./array-inputs.js";
import { bindingError, wantLiterals } from "./want-literals.js";
import type { NodeInputs } from "./node-inputs.js";
import type { Walk } from "./walk.js";

/**
 * Binds a node's inputs; enqueues `waiter` when outputs that must be read have arrived. The inputs are the same at any
 * time, also after a restart: the node starts nothing before they are known.
 */
export function inputsOf(walk: Walk, node: RuntimeNode, waiter = node): NodeInputs {
  const bound = bind(walk, node);
  if ("literals" in bound) return { kind: "ready", inputs: bound.literals };
  const source = boundBy(node);
  if ("error" in bound) return { kind: "error", error: bindingError(source, bound.error.message) };
  const wanted =
    "offloaded" in bound ? wantLiterals(walk, waiter, bound.offloaded) : wantOutputs(walk, waiter, bound.missing, source.scope);
  return wanted ?? { kind: "waiting" };
}

/** The node whose bindings give the inputs: an item uses those of its array. */
function boundBy(node: RuntimeNode): RuntimeNode {
  const { array, owner } = node.scope;
  return array === undefined || owner === undefined ? node : boundBy(owner);
}

/** Inputs of a node as far as they are known now. */
function bind(walk: Walk, node: RuntimeNode): BoundInputs {
  const { array, owner } = node.scope;
  if (array !== undefined && owner !== undefined && !walk.forgetsItems) {
    const all = boundOnce(walk, owner);
    return "literals" in all ? { literals: ownInputs(node, all.literals) } : all;
  }
  const bound = bindOwn(walk, node);
  if (!("literals" in bound)) return bound;
  if (node.model.target.kind === "array") return listsByValue(walk, node, bound.literals);
  return node === node.scope.failureNode ? { literals: withFailure(bound.literals, node.scope) } : bound;
}

/** Inputs of a node whose graph reads them repeatedly. */
function boundOnce(walk: Walk, owner: RuntimeNode): BoundInputs {
  if (owner.inputs !== undefined) return { literals: owner.inputs };
  const bound = bind(walk, owner);
  if ("literals" in bound) owner.inputs = bound.literals;
  return bound;
}

function bindOwn(walk: Walk, node: RuntimeNode): BoundInputs {
  const { scope } = node;
  return resolveBindings(node.model.inputBindings, (id) => knownOutputs(walk, scope, id), {
    offloaded: (uri) => walk.blobs.literal(uri),
    unalias: (id, alias) => scope.graph.nodes.get(id)?.outputAliases.find((entry) => entry.alias === alias)?.variable,
  });
}

/** Outputs of a node of this graph by value, if known so now. */
function knownOutputs(walk: Walk, scope: Scope, id: string): LiteralMap | undefined {
  if (id === "" || id === START_NODE) return graphInputs(walk, scope);
  const node = scope.nodes.get(id);
  if (node === undefined) return undefined;
  if (node.outputs === undefined && node.status.outputs !== undefined) node.outputs = decodeOutputs(node.status.outputs);
  return node.outputs ?? walk.blobs.outputs(standingAt(node));
}

/** Inputs of a node's graph; enqueues the node when they are known. */
export function graphInputsOf(walk: Walk, node: RuntimeNode): NodeInputs {
  const { scope } = node;
  const known = graphInputs(walk, scope);
  if (known !== undefined || scope.owner === undefined) return { kind: "ready", inputs: known ?? walk.model.inputs };
  return inputsOf(walk, scope.owner, node);
}

/** Inputs of a graph, if known now: the workflow's, or those of the node that runs the graph. */
function graphInputs(walk: Walk, scope: Scope): LiteralMap | undefined {
  if (scope.inputs !== undefined) return scope.inputs;
  if (scope.owner === undefined) return walk.model.inputs;
  const bound = boundOnce(walk, scope.owner);
  return "literals" in bound ? bound.literals : undefined;
}

function standingAt(node: RuntimeNode): string {
  return node.status.outputUri ?? outputsUri(node.attemptDir);
}

function wantOutputs(walk: Walk, waiter: RuntimeNode, ids: readonly string[], scope = waiter.scope): NodeInputs | undefined {
  for (const id of ids) {
    if (id === "" || id === START_NODE) {
      const above = scope.owner === undefined ? undefined : inputsOf(walk, scope.owner, waiter);
      if (above?.kind === "error") return above;
      continue;
    }
    const node = scope.nodes.get(id);
    if (node === undefined || !node.succeeded) return { kind: "error", error: bindingError(waiter, `node [${id}] has no outputs`) };
    const uri = standingAt(node);
    const lost = walk.blobs.lost(uri);
    if (lost !== undefined) return { kind: "error", error: bindingError(waiter, `Outputs ${lost}`) };
    const effect = walk.blobs.want(waiter, "outputs", uri);
    if (effect !== undefined) walk.emit(effect);
  }
  return undefined;
}

/** Outputs of a succeeded node by value, if known so now. */
export function outputsOf(walk: Walk, node: RuntimeNode): LiteralMap | undefined {
  return (
    node.outputs ??
    (node.status.outputs === undefined ? undefined : decodeOutputs(node.status.outputs)) ??
    walk.blobs.outputs(standingAt(node))
  );
}

/** Requests outputs that are not known by value. */
export function wantOutputsOf(walk: Walk, waiter: RuntimeNode, node: RuntimeNode): ExecutionErrorJson | undefined {
  const uri = standingAt(node);
  const lost = walk.blobs.lost(uri);
  if (lost !== undefined) return bindingError(waiter, `Outputs ${lost}`);
  const effect = walk.blobs.want(waiter, "outputs", uri);
  if (effect !== undefined) walk.emit(effect);
  return undefined;
}

/**
 * Writes outputs below the node's folder; the node's success is committed afterwards.
 *
 * @param pending the node's deck, and the outputs where they are also kept by value
 */
export function writeOutputs(walk: Walk, node: RuntimeNode, outputs: LiteralMap, pending: Pick<PendingOutputs, "deckUri" | "value">): void {
  const uri = outputsUri(node.attemptDir);
  node.pendingOutputs = { ...pending, uri, stored: true };
  node.writes = new Set([uri]);
  walk.writeBlob(node, uri, outputs);
}

/** Encoded size of a literal map, bytes. */
export function sizeOf(literals: LiteralMap): number {
  return toBinary(LiteralMapSchema, literals).length;
}

/** True when outputs may be sent and kept by value. */
export function fitsInline(walk: Walk, bytes: number): boolean {
  const { inlineLimit, inlineBudget, keptBudget } = walk.config;
  const { retainedBytes, keptBytes } = walk;
  return bytes <= inlineLimit && retainedBytes + bytes <= inlineBudget && retainedBytes + keptBytes + bytes <= keptBudget;
}

/** Status fields for a node's outputs: for remaining consumers, and until admin has recorded the execution's end. */
export function retainOutputs(walk: Walk, node: RuntimeNode, outputs: NodeOutputs | undefined): { outputs?: string; outputUri?: string } {
  if (outputs === undefined) return {};
  const own = outputsUri(node.attemptDir);
  if (outputs.value === undefined) return outputs.uri === own || outputs.uri === "" ? {} : { outputUri: outputs.uri };
  const isNeeded = needed(node);
  if (!isNeeded && (walk.forgetsOutputs || !isRecorded(node))) return {};
  if (isNeeded) node.outputs = outputs.value;
  // The start node's outputs are always available as the graph's inputs.
  if (node.id === START_NODE) return {};
  const bytes = toBinary(LiteralMapSchema, outputs.value);
  if (isNeeded) {
    walk.retained.set(node, bytes.length);
    walk.retainedBytes += bytes.length;
  } else walk.keptBytes += bytes.length;
  return { outputs: Buffer.from(bytes).toString("base64") };
}

/** True when other nodes use the node's outputs: consumers, or consumers of the branch or array that passes them on. */
export function isBound({ consumers, branch, scope }: RuntimeNode): boolean {
  const above = branch ?? (scope.array === undefined ? undefined : scope.owner);
  return consumers > 0 || (above !== undefined && isBound(above));
}

/** True when admin records the node's outputs as its own. */
function isRecorded(node: RuntimeNode): boolean {
  const { kind } = node.model.target;
  return kind !== "start" && kind !== "end" && node.scope.array?.tells !== "items";
}

/** True for a node with consumers, a branch that passes its outputs on, or the graph's end. */
export function needed(node: RuntimeNode): boolean {
  return node.consumers > 0 || node.branch !== undefined || node.id === END_NODE || node.scope.array !== undefined;
}

export function decodeOutputs(text: string): LiteralMap {
  return fromBinary(LiteralMapSchema, Buffer.from(text, "base64"));
}

/**
 * Releases outputs that only the ended `consumer` still needed. An arm needs its sources until its branch has ended, as
 * a branch may start again.
 */
export function releaseSources(walk: Walk, consumer: RuntimeNode): void {
  if (consumer.branch === undefined) releaseAll(walk, consumer);
}

function releaseAll(walk: Walk, consumer: RuntimeNode): void {
  const { nodes, index } = consumer.scope;
  for (const id of index.sources.get(consumer.id) ?? []) {
    const source = nodes.get(id);
    if (source === undefined) continue;
    source.consumers--;
    if (source.consumers === 0 && source.settled && !needed(source)) releaseOutputs(walk, source);
  }
  for (const arm of armsOf(consumer)) releaseAll(walk, arm);
}

/** Releases outputs without consumers. They stay in the status until admin has recorded the execution's end. */
export function releaseOutputs(walk: Walk, node: RuntimeNode): void {
  if (walk.forgetsOutputs || !isRecorded(node)) {
    dropOutputs(walk, node);
    return;
  }
  node.outputs = undefined;
  walk.keptBytes += release(walk, node);
}

/** Removes a node's outputs from those kept for consumers; returns their bytes. */
function release(walk: Walk, node: RuntimeNode): number {
  const bytes = walk.retained.get(node) ?? 0;
  walk.retained.delete(node);
  walk.retainedBytes -= bytes;
  return bytes;
}

/** Outputs known by value at any time, for republishing. */
export function keptOutputs(walk: Walk, node: RuntimeNode): LiteralMap | undefined {
  if (node.id === START_NODE) return graphInputs(walk, node.scope);
  return node.outputs ?? (node.status.outputs === undefined ? undefined : decodeOutputs(node.status.outputs));
}

/** Drops the outputs of a node that starts again, or that were never published. */
export function dropOutputs(walk: Walk, node: RuntimeNode): void {
  node.outputs = undefined;
  release(walk, node);
  if (node.status.outputs === undefined) return;
  const { outputs: _, ...rest } = node.status;
  walk.setNode(node, rest);
}
