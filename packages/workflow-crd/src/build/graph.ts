import type { JsonObject } from "@bufbuild/protobuf";
import { workflowIdText } from "@flyte-ts/domain/identifier";
import type { CompiledWorkflow, ConnectionSet_IdList } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { BindingSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type Node, WorkflowMetadata_OnFailurePolicy as Policy } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { WorkflowBuildError } from "./build-error.js";
import { START_NODE } from "@flyte-ts/domain/graph";
import { type BindingForm, buildNodes, type NodeJson, type Tasks } from "./node.js";
import { protobufJson } from "./protobuf-json.js";
import { stripInterface } from "./strip-interface.js";

/** A graph in the form of the resource. */
export interface GraphFields {
  /** All fields except the nodes. */
  readonly header: JsonObject & { readonly id: string };
  /** Built lazily, one by one. */
  readonly nodes: Iterable<NodeJson>;
}

/** Builds `spec` of the resource, or one of its `subWorkflows`. */
export function buildGraph({ header, nodes }: GraphFields): JsonObject {
  return { ...header, nodes: Object.fromEntries(Array.from(nodes, (node) => [node.id, node])) };
}

interface GraphFieldsOptions {
  readonly tasks: Tasks;
  readonly bindings: BindingForm;
  /** Default: those of the graph's template. */
  readonly nodes?: Iterable<Node> | undefined;
}

/**
 * @throws WorkflowBuildError when the graph is incomplete or not compiled; for a node, when it is
 *   iterated.
 */
export function graphFields({ template, connections }: CompiledWorkflow, { tasks, bindings, nodes }: GraphFieldsOptions): GraphFields {
  if (template?.id === undefined) throw new WorkflowBuildError("closure", "contains a workflow without an id");
  const id = workflowIdText(template.id);
  const edges = { downstream: idLists(connections?.downstream ?? {}), upstream: idLists(connections?.upstream ?? {}) };
  if ((connections?.downstream[START_NODE]?.ids ?? []).length === 0) throw new WorkflowBuildError(id, "no node follows the start node");
  const header: GraphFields["header"] = { id, connections: edges.downstream, edges };
  if (template.failureNode !== undefined) header["onFailure"] = buildNodes(template.failureNode, tasks, bindings)[0] ?? null;
  const outputs = template.interface === undefined ? undefined : stripInterface(template.interface).outputs;
  header["outputs"] = outputs === undefined ? {} : protobufJson(VariableMapSchema, outputs);
  if (template.outputs.length > 0) header["outputBindings"] = template.outputs.map((binding) => protobufJson(BindingSchema, binding));
  const policy = template.metadata?.onFailure ?? Policy.FAIL_IMMEDIATELY;
  if (policy !== Policy.FAIL_IMMEDIATELY) header["onFailurePolicy"] = Policy[policy] ?? String(policy);
  return { header, nodes: buildEachNode(nodes ?? template.nodes, tasks, bindings) };
}

function* buildEachNode(nodes: Iterable<Node>, tasks: Tasks, bindings: BindingForm): Generator<NodeJson> {
  for (const node of nodes) yield* buildNodes(node, tasks, bindings);
}

function idLists(map: Readonly<Record<string, ConnectionSet_IdList>>): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([id, list]) => [id, [...list.ids]]));
}
