import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { type BoundInputs, resolveBindings } from "@flyte-ts/domain/binding";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { outputsUri } from "../graph/paths.js";
import { withFailure } from "../errors/failure-input.js";
import { armsOf } from "../graph/arms.js";
import { END_NODE, START_NODE } from "../graph/index-graph.js";
import type { UncommittedSuccess } from "../graph/node-data.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import type { NodeInputs, NodeOutputs } from "./node-inputs.js";
import { resolveOffloadedLists, itemInputs } from "./array-inputs.js";
import { bindingError, requestLiterals } from "./request-literals.js";
import type { RunState } from "../state/run-state.js";

/**
 * Binds a node's inputs; enqueues `waiter` when outputs that must be read have arrived. The inputs
 * are the same at any time, also after a restart: the node starts nothing before they are known.
 */
export function resolveInputs(state: RunState, node: RuntimeNode, waiter = node): NodeInputs {
  const bound = bind(state, node);
  if ("literals" in bound) return { kind: "ready", inputs: bound.literals };
  const source = bindingNodeOf(node);
  if ("error" in bound) return { kind: "error", error: bindingError(source, bound.error.message) };
  const wanted =
    "offloaded" in bound ? requestLiterals(state, waiter, bound.offloaded) : requestOutputs(state, waiter, bound.missing, source.scope);
  return wanted ?? { kind: "waiting" };
}

/** The node whose bindings give the inputs: an item uses those of its array. */
function bindingNodeOf(node: RuntimeNode): RuntimeNode {
  const { array, owner } = node.scope;
  return array === undefined || owner === undefined ? node : bindingNodeOf(owner);
}

/** Inputs of a node as far as they are known now. */
function bind(state: RunState, node: RuntimeNode): BoundInputs {
  const { array, owner } = node.scope;
  if (array !== undefined && owner !== undefined && state.policy.bindsItemFromArray(node)) {
    const all = bindOnce(state, owner);
    return "literals" in all ? { literals: itemInputs(node, all.literals) } : all;
  }
  const bound = bindOwn(state, node);
  if (!("literals" in bound)) return bound;
  if (node.model.target.kind === "array") return resolveOffloadedLists(state, node, bound.literals);
  return node === node.scope.failureNode ? { literals: withFailure(bound.literals, node.scope) } : bound;
}

/** Binds a node's inputs once and keeps them, since its graph reads them repeatedly. */
function bindOnce(state: RunState, owner: RuntimeNode): BoundInputs {
  if (owner.data.inputs !== undefined) return { literals: owner.data.inputs };
  const bound = bind(state, owner);
  if ("literals" in bound) owner.changeData().setInputs(bound.literals);
  return bound;
}

function bindOwn(state: RunState, node: RuntimeNode): BoundInputs {
  const { scope } = node;
  return resolveBindings(node.model.inputBindings, (id) => cachedOutputs(state, scope, id), {
    offloaded: (uri) => state.blobReads.literal(uri),
    unalias: (id, alias) => scope.graph.nodes.get(id)?.outputAliases.find((entry) => entry.alias === alias)?.variable,
  });
}

/** Outputs of a node of this graph by value, if available now. */
function cachedOutputs(state: RunState, scope: Scope, id: string): LiteralMap | undefined {
  if (id === "" || id === START_NODE) return graphInputs(state, scope);
  const node = scope.nodes.get(id);
  if (node === undefined) return undefined;
  if (node.data.outputs === undefined && node.status.outputs !== undefined)
    node.changeData().setOutputs(decodeOutputs(node.status.outputs));
  return node.data.outputs ?? state.blobReads.outputs(outputsLocation(node));
}

/** Inputs of a node's graph; enqueues the node when they are known. */
export function graphInputsOf(state: RunState, node: RuntimeNode): NodeInputs {
  const { scope } = node;
  const known = graphInputs(state, scope);
  if (known !== undefined || scope.owner === undefined) return { kind: "ready", inputs: known ?? state.model.inputs };
  return resolveInputs(state, scope.owner, node);
}

/** Inputs of a graph, if known now: the workflow's, or those of the node that runs the graph. */
function graphInputs(state: RunState, scope: Scope): LiteralMap | undefined {
  if (scope.inputs !== undefined) return scope.inputs;
  if (scope.owner === undefined) return state.model.inputs;
  const bound = bindOnce(state, scope.owner);
  return "literals" in bound ? bound.literals : undefined;
}

function outputsLocation(node: RuntimeNode): string {
  return node.status.outputUri ?? outputsUri(node.attemptDir);
}

function requestOutputs(state: RunState, waiter: RuntimeNode, ids: readonly string[], scope = waiter.scope): NodeInputs | undefined {
  for (const id of ids) {
    if (id === "" || id === START_NODE) {
      const above = scope.owner === undefined ? undefined : resolveInputs(state, scope.owner, waiter);
      if (above?.kind === "error") return above;
      continue;
    }
    const node = scope.nodes.get(id);
    if (node === undefined || !node.hasSucceeded) return { kind: "error", error: bindingError(waiter, `node [${id}] has no outputs`) };
    const uri = outputsLocation(node);
    const lost = state.blobReads.failureReason(uri);
    if (lost !== undefined) return { kind: "error", error: bindingError(waiter, `Outputs ${lost}`) };
    const effect = state.blobReads.request(waiter, "outputs", uri);
    if (effect !== undefined) state.effects.emit(effect);
  }
  return undefined;
}

/** Outputs of a succeeded node by value, if available now. */
export function outputsOf(state: RunState, node: RuntimeNode): LiteralMap | undefined {
  return (
    node.data.outputs ??
    (node.status.outputs === undefined ? undefined : decodeOutputs(node.status.outputs)) ??
    state.blobReads.outputs(outputsLocation(node))
  );
}

/** Requests outputs that are not known by value. */
export function requestNodeOutputs(state: RunState, waiter: RuntimeNode, node: RuntimeNode): ExecutionErrorJson | undefined {
  const uri = outputsLocation(node);
  const lost = state.blobReads.failureReason(uri);
  if (lost !== undefined) return bindingError(waiter, `Outputs ${lost}`);
  const effect = state.blobReads.request(waiter, "outputs", uri);
  if (effect !== undefined) state.effects.emit(effect);
  return undefined;
}

/**
 * Writes outputs below the node's folder; the node's success is committed afterwards.
 *
 * @param pending the node's deck, and the outputs where they are also kept by value
 */
export function writeOutputs(
  state: RunState,
  node: RuntimeNode,
  outputs: LiteralMap,
  pending: Pick<UncommittedSuccess, "deckUri" | "value" | "cleanup">,
): void {
  const uri = outputsUri(node.attemptDir);
  node.changeData().setUncommittedSuccess({ ...pending, uri, stored: true });
  state.effects.emit(state.blobWrites.start(node, uri, outputs));
}

/** Encoded size of maps whose size is kept, bytes: encoding 10,000 items takes 30 ms. */
const KEPT_SIZE_BYTES = 4_096;
const keptSizes = new WeakMap<LiteralMap, number>();

/** Encoded size of a literal map that does not change, bytes. */
export function sizeOf(literals: LiteralMap): number {
  const kept = keptSizes.get(literals);
  if (kept !== undefined) return kept;
  const { length } = encodeMessage(LiteralMapSchema, literals);
  if (length >= KEPT_SIZE_BYTES) keptSizes.set(literals, length);
  return length;
}

/** True when outputs may be sent and kept by value. */
export function fitsInline(state: RunState, bytes: number): boolean {
  return state.outputBudget.fits(bytes, state.config);
}

/**
 * Status fields for a node's outputs: for remaining consumers, and until admin has recorded the
 * execution's end.
 */
export function keepOutputs(
  state: RunState,
  node: RuntimeNode,
  outputs: NodeOutputs | undefined,
): { outputs?: string; outputUri?: string } {
  if (outputs === undefined) return {};
  const own = outputsUri(node.attemptDir);
  if (outputs.value === undefined) return outputs.uri === own || outputs.uri === "" ? {} : { outputUri: outputs.uri };
  const isNeeded = areOutputsNeeded(node);
  if (!isNeeded && !state.policy.keepsOutputsUntilRecorded(node)) return {};
  if (isNeeded) node.changeData().setOutputs(outputs.value);
  // The start node's outputs are always available as the graph's inputs.
  if (node.id === START_NODE) return {};
  const bytes = toBinary(LiteralMapSchema, outputs.value);
  if (isNeeded) {
    state.outputBudget.addInline(node, bytes.length);
  } else state.outputBudget.addKept(bytes.length);
  return { outputs: Buffer.from(bytes).toString("base64") };
}

/**
 * True when other nodes use the node's outputs: consumers, or consumers of the branch or array that
 * passes them on.
 */
export function hasConsumers({ readiness, branch, scope }: RuntimeNode): boolean {
  const above = branch ?? (scope.array === undefined ? undefined : scope.owner);
  return readiness.consumers > 0 || (above !== undefined && hasConsumers(above));
}

/** True for a node with consumers, a branch that passes its outputs on, or the graph's end. */
export function areOutputsNeeded(node: RuntimeNode): boolean {
  return node.readiness.consumers > 0 || node.branch !== undefined || node.id === END_NODE || node.scope.array !== undefined;
}

export function decodeOutputs(text: string): LiteralMap {
  return fromBinary(LiteralMapSchema, Buffer.from(text, "base64"));
}

/**
 * Releases outputs that only the ended `consumer` still needed. An arm needs its sources until its
 * branch has ended, as a branch may start again.
 */
export function releaseUpstreamOutputs(state: RunState, consumer: RuntimeNode): void {
  if (consumer.branch === undefined) releaseOutputsBoundBy(state, consumer);
}

function releaseOutputsBoundBy(state: RunState, consumer: RuntimeNode): void {
  const { nodes, index } = consumer.scope;
  for (const id of index.sources.get(consumer.id) ?? []) {
    const source = nodes.get(id);
    if (source === undefined) continue;
    source.readiness.consumerEnded();
    if (source.readiness.consumers === 0 && source.ended && !areOutputsNeeded(source)) releaseOutputs(state, source);
  }
  for (const arm of armsOf(consumer)) releaseOutputsBoundBy(state, arm);
}

/**
 * Releases outputs without consumers. They stay in the status until admin has recorded the
 * execution's end.
 */
export function releaseOutputs(state: RunState, node: RuntimeNode): void {
  if (!state.policy.keepsOutputsUntilRecorded(node)) {
    evictOutputs(state, node);
    return;
  }
  node.releaseOutputs();
  state.outputBudget.addKept(state.outputBudget.removeInline(node));
}

/** Returns outputs that are available by value without a read, for republishing. */
export function outputsByValue(state: RunState, node: RuntimeNode): LiteralMap | undefined {
  if (node.id === START_NODE) return graphInputs(state, node.scope);
  return node.data.outputs ?? (node.status.outputs === undefined ? undefined : decodeOutputs(node.status.outputs));
}

/** Drops the outputs of a node that starts again, or that were never published. */
export function evictOutputs(state: RunState, node: RuntimeNode): void {
  node.releaseOutputs();
  state.outputBudget.removeInline(node);
  if (node.status.outputs === undefined) return;
  const { outputs: _, ...rest } = node.status;
  state.status.setNode(node, rest);
}
