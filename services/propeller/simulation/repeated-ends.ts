import { toBinary } from "@bufbuild/protobuf";
import { isTerminalNodeEvent, WorkflowPhase } from "@flyte-ts/domain/phase";
import { endOfNode, endOfResource, type NodeUpdate, type ResourceNode, resourceNodes } from "@flyte-ts/execution-state";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { NodeExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { START_NODE } from "../src/engine/graph/index-graph.js";

interface ObservedEnd {
  readonly event: NodeExecutionEvent;
  readonly outputs: LiteralMap | undefined;
}

/**
 * Records the published ends of nodes, to compare them with those that the resource alone contains.
 */
export class EndRepeatChecker {
  /** By unique id, as first published. */
  readonly #firstEnds = new Map<string, ObservedEnd>();
  /** Facts of ends that differed when republished. */
  readonly #changed = new Set<string>();
  #missing: readonly string[] = [];

  take({ event, outputs }: ExecutionEvent): void {
    if (event.case !== "node") return;
    const { phase, id } = event.value;
    const nodeId = id?.nodeId ?? "";
    // The status does not contain aborts and arms not chosen, since both follow from the end of
    // their graph or branch.
    if (!isTerminalNodeEvent(phase) || phase === NodeExecution_Phase.ABORTED || phase === NodeExecution_Phase.SKIPPED) return;
    const end: ObservedEnd = { event: event.value, outputs };
    const first = this.#firstEnds.get(nodeId);
    if (first === undefined) this.#firstEnds.set(nodeId, end);
    else for (const fact of differing(first, end)) this.#changed.add(`the same ${fact} of node ${nodeId} as was reported at first`);
  }

  /** `status`: the resource's after the workflow's end and before admin has confirmed it. */
  ended(status: WorkflowStatus, blobs: ReadonlyMap<string, LiteralMap>): void {
    const nodes = resourceNodes(status.nodeStatus ?? {}, status);
    const end = endOfResource(status, status.nodeStatus ?? {}, 0n);
    const violations: string[] = [];
    if (end.kind === "incomplete" || (end.kind === "inBlob" && !blobs.has(end.uri))) violations.push("the outputs of the execution");
    for (const [nodeId, reported] of this.#firstEnds) {
      // A start node runs ahead of the status; an execution aborted first never stored it.
      if (status.phase !== WorkflowPhase.Success && reported.event.specNodeId === START_NODE && !nodes.has(nodeId)) continue;
      violations.push(...lost(nodeId, reported, { nodes, blobs }));
    }
    this.#missing = violations;
  }

  /** Facts that could not be derived from the resource. */
  get missing(): readonly string[] {
    return [...this.#missing, ...this.#changed];
  }
}

/**
 * Lists the facts in which a republished end differs from the first. They must not: admin records
 * the one that arrives first.
 */
function differing(first: ObservedEnd, again: ObservedEnd): string[] {
  const [one, other] = [factsOf(first), factsOf(again)];
  return Object.keys(one).filter((fact) => one[fact] !== other[fact]);
}

function factsOf({ event, outputs }: ObservedEnd): Readonly<Record<string, unknown>> {
  const { phase, outputResult, specNodeId, targetMetadata, deckUri } = event;
  const task = targetMetadata.case === "taskNodeMetadata" ? targetMetadata.value : undefined;
  return {
    phase,
    // Outputs of a start node are the inputs of its graph, which may have to be read first.
    outputs:
      outputs === undefined || specNodeId === START_NODE ? undefined : Buffer.from(toBinary(LiteralMapSchema, outputs)).toString("base64"),
    "URI of outputs": outputResult.case === "outputUri" ? outputResult.value : undefined,
    error: outputResult.case === "error" ? outputResult.value.code : undefined,
    deck: deckUri,
    child: targetMetadata.case === "workflowNodeMetadata" ? targetMetadata.value.executionId?.name : undefined,
    "cache status": task?.cacheStatus ?? CatalogCacheStatus.CACHE_DISABLED,
    // Propeller names the checkpoint of a failed attempt once: it is a hint for an execution that
    // recovers this one.
    checkpoint: outputResult.case === "error" ? undefined : task?.checkpointUri,
  };
}

interface Known {
  readonly nodes: ReadonlyMap<string, ResourceNode>;
  readonly blobs: ReadonlyMap<string, LiteralMap>;
}

function lost(nodeId: string, { event, outputs }: ObservedEnd, { nodes, blobs }: Known): string[] {
  const node = nodes.get(nodeId);
  if (node === undefined) return isOfEarlierAttempt(event, nodes) ? [] : [`node ${nodeId}`];
  const end = endOfNode(node, { inferredReason: "lost", now: 0n, project: "p", domain: "d" });
  const violations: string[] = [];
  if (end.phase !== event.phase) violations.push(`the phase of node ${nodeId}: ${end.phase}, not ${event.phase}`);
  if (event.outputResult.case === "error" && end.error?.code !== event.outputResult.value.code)
    violations.push(`the error of node ${nodeId}`);
  if (namesOutputs(event, { outputs, blobs }) && !hasOutputs(end, { node, blobs, outputs }))
    violations.push(`the outputs of node ${nodeId}`);
  if (event.deckUri !== end.deckUri) violations.push(`the deck of node ${nodeId}`);
  return [...violations, ...lostTarget(nodeId, event, end)];
}

function lostTarget(nodeId: string, { targetMetadata }: NodeExecutionEvent, { target }: NodeUpdate): string[] {
  if (targetMetadata.case === "workflowNodeMetadata" && target?.isExecution !== true) return [`the child of node ${nodeId}`];
  if (targetMetadata.case !== "taskNodeMetadata" || targetMetadata.value.catalogKey === undefined) return [];
  return target?.cacheStatus === CatalogCacheStatus[targetMetadata.value.cacheStatus] ? [] : [`the cache status of node ${nodeId}`];
}

/**
 * True when an event names existing outputs. Those of a start node are the inputs of its graph.
 * Events of gates and branches name an address even without outputs.
 */
function namesOutputs(
  { outputResult, specNodeId, targetEntity }: NodeExecutionEvent,
  { outputs, blobs }: Pick<OutputsKnown, "outputs" | "blobs">,
): boolean {
  if (outputResult.case !== "outputUri" || specNodeId === START_NODE) return false;
  return outputs !== undefined || targetEntity !== undefined || blobs.has(outputResult.value);
}

interface OutputsKnown extends Pick<Known, "blobs"> {
  readonly node: ResourceNode;
  readonly outputs: LiteralMap | undefined;
}

function hasOutputs(end: NodeUpdate, { node, blobs, outputs }: OutputsKnown): boolean {
  if (end.outputs === undefined) return blobs.has(end.outputUri ?? `${node.attemptDir}/outputs.pb`);
  return outputs === undefined || Buffer.from(end.outputs).equals(toBinary(LiteralMapSchema, outputs));
}

/** Nodes of a superseded attempt are in no status. */
function isOfEarlierAttempt({ parentNodeMetadata, retryGroup }: NodeExecutionEvent, nodes: Known["nodes"]): boolean {
  if (parentNodeMetadata === undefined) return false;
  const parent = nodes.get(parentNodeMetadata.nodeId);
  // A missing parent is reported separately.
  return parent === undefined || String(parent.status.attempts ?? 0) !== retryGroup;
}
