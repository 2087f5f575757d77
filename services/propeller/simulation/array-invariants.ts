import { nodeUniqueId } from "@flyte-ts/domain/name";
import { isTerminalNode } from "@flyte-ts/domain/phase";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { GraphModel, NodeModel, WorkflowModel } from "@flyte-ts/workflow-crd";
import type { NodeStatus } from "@flyte-ts/workflow-crd/status";

type Statuses = Readonly<Record<string, NodeStatus>>;

/** Finds arrays with more running items than their limit allows. */
export function tooManyItems(statuses: Statuses, graph: GraphModel, model: Pick<WorkflowModel, "subWorkflows">): string[] {
  return Object.entries(statuses).flatMap(([id, { subNodeStatus }]) => {
    const node = graph.nodes.get(id) ?? (graph.onFailure?.id === id ? graph.onFailure : undefined);
    return node === undefined || subNodeStatus === undefined ? [] : below(node, subNodeStatus, model);
  });
}

function below(node: NodeModel, statuses: Statuses, model: Pick<WorkflowModel, "subWorkflows">): string[] {
  const { target } = node;
  if (target.kind === "subWorkflow") {
    const graph = model.subWorkflows.get(target.workflow);
    return graph === undefined ? [] : tooManyItems(statuses, graph, model);
  }
  if (target.kind !== "array") return [];
  const { parallelismOption: option } = target.array;
  const limit = option.case === "parallelism" && option.value > 0 ? option.value : Number.POSITIVE_INFINITY;
  const items = Object.values(statuses);
  const live = items.filter(({ phase }) => !isTerminalNode(phase)).length;
  const inner = items.flatMap(({ subNodeStatus }) => (subNodeStatus === undefined ? [] : below(target.subNode, subNodeStatus, model)));
  return live > limit ? [`array ${node.id} has ${live} items under way, allowed are ${limit}`, ...inner] : inner;
}

/** Tracks the sizes of maps, and detects outputs that are not those of their items, in order. */
export class MapOutputs {
  readonly #sizes = new Map<string, number>();

  /** `outputOf` returns the number that the task of the node with this unique id outputs. */
  wrong({ event, outputs }: ExecutionEvent, outputOf: (uniqueId: string) => number): string | undefined {
    if (event.case !== "task") return undefined;
    const { parentNodeExecutionId, metadata, retryAttempt } = event.value;
    const uniqueId = parentNodeExecutionId?.nodeId ?? "";
    const size = Math.max(this.#sizes.get(uniqueId) ?? 0, ...(metadata?.externalResources ?? []).map(({ index }) => index + 1));
    this.#sizes.set(uniqueId, size);
    const list = outputs?.literals["o0"];
    if (list?.value.case !== "collection") return undefined;
    const { literals } = list.value.value;
    if (literals.length !== size) return `map ${uniqueId} gives ${literals.length} outputs for ${size} items`;
    const at = literals.findIndex((literal, index) => {
      const own = nodeUniqueId({ parent: { uniqueId, attempt: retryAttempt }, nodeId: `n${index}` });
      return isWrong(literal, outputOf(own));
    });
    return at < 0 ? undefined : `map ${uniqueId} gives at ${at} what item ${at} did not give`;
  }
}

/** Failed items contribute None. */
function isWrong({ value }: Literal, wanted: number): boolean {
  if (value.case !== "scalar") return true;
  const scalar = value.value.value;
  if (scalar.case === "noneType") return false;
  return scalar.case !== "primitive" || Number(scalar.value.value.value) !== wanted;
}
