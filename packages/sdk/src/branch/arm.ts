import { clone, create } from "@bufbuild/protobuf";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Node, NodeSchema, type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { typedInterfaceOf } from "../codec/literal-type.js";
import { isRecord } from "../codec/primitive.js";
import { identify } from "../describe/registration.js";
import { SINGLE_OUTPUT } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import type { AnyType } from "../type/type.js";
import { bindReference, upstreamOf } from "../graph/binding.js";
import { CapturedReferences } from "./capture.js";
import { Graph, within } from "../graph/graph.js";
import { makeNode, nodeMetadata } from "../graph/node.js";
import { makeReference, nodeHandle, type ReferenceSource, referenceIn } from "../graph/reference.js";
import { recordTypes } from "../graph/type-recorder.js";
import { subWorkflowsOf } from "../graph/sub-workflows.js";

/** Outputs of the arms of a branch: variable, type, and key in the returned object. */
export class ArmShape {
  constructor(
    /** Variables by key; one of key `undefined` for a single reference. */
    readonly outputs: readonly { readonly key: string | undefined; readonly variable: string; readonly type: AnyType }[],
  ) {}

  /** Makes the references to the outputs of the branch. */
  references(nodeId: string): object {
    const [only] = this.outputs;
    if (only !== undefined && only.key === undefined) return this.reference(nodeId, only);
    const entries = this.outputs.map((output) => [output.key ?? "", this.reference(nodeId, output)] as const);
    return nodeHandle(nodeId, Object.fromEntries(entries));
  }

  private reference(nodeId: string, { variable, type }: { readonly variable: string; readonly type: AnyType }): object {
    return makeReference({ nodeId, variable, path: [], type });
  }
}

export interface Arm {
  readonly node: Node;
  readonly shape: ArmShape;
  /** Nodes outside of the arm that its nodes follow without data from them. */
  readonly upstream: readonly string[];
}

interface ArmParts {
  readonly graph: Graph;
  readonly branchId: string;
  readonly index: number;
  /** Outputs of the first arm. */
  readonly shape: ArmShape | undefined;
  readonly build: () => unknown;
}

/**
 * Builds one arm. In Flyte an arm is one node: several nodes, or outputs of other names than the
 * first arm's, become a sub-workflow whose inputs are the references from outside of the arm.
 */
export function buildArm({ graph, branchId, index, shape, build }: ArmParts): Arm {
  const name = `${graph.name}.${branchId}-arm${index}`;
  const inner = new Graph(graph.compilation, name, `${branchId}-${index}-`);
  const { result, types } = recordTypes(() => within(inner, build));
  const returned = returnedBy(result, name);
  const [only] = inner.nodes;
  if (only === undefined) throw new GraphError(`${name} adds no node: an arm of a branch must call a task, workflow or launch plan`);
  const own = shape ?? shapeOf(returned);
  const upstream = inner.nodes.flatMap(orderOf).filter((id) => !inner.has(id));
  if (inner.nodes.length === 1 && isDirect(only, returned, own)) return { node: only, shape: own, upstream };
  return { node: wrapped({ graph, inner, name, returned, shape: own, types, nodeId: `${branchId}-${index}` }), shape: own, upstream };
}

/** Lists the nodes that a node follows without data from them. */
function orderOf({ inputs, upstreamNodeIds }: Node): readonly string[] {
  const data = upstreamOf(inputs);
  return upstreamNodeIds.filter((id) => !data.includes(id));
}

type ReturnedOutput = { readonly key: string | undefined; readonly source: ReferenceSource };

function returnedBy(result: unknown, name: string): readonly ReturnedOutput[] {
  const source = referenceIn(result);
  if (source !== undefined) return [{ key: undefined, source }];
  if (result === undefined || result === null) return [];
  if (!isRecord(result)) throw new GraphError(`${name} must return references`);
  return Object.entries(result).map(([key, value]) => {
    const inside = referenceIn(value);
    if (inside === undefined) throw new GraphError(`${name} returns ${key}, which is no reference; a task makes constants`);
    return { key, source: inside };
  });
}

/** The first arm names the variables: those of its node where that is possible. */
function shapeOf(returned: readonly ReturnedOutput[]): ArmShape {
  const variables = returned.map(({ source }) => source.variable);
  const distinct = new Set(variables).size === variables.length && returned.every(({ source }) => source.path.length === 0);
  return new ArmShape(
    returned.map(({ key, source }) => ({ key, variable: distinct ? source.variable : (key ?? SINGLE_OUTPUT), type: source.type })),
  );
}

/** True when the outputs of the only node of an arm are those of the branch. */
function isDirect(node: Node, returned: readonly ReturnedOutput[], shape: ArmShape): boolean {
  return shape.outputs.every(({ key, variable }) => {
    const found = returned.find((output) => output.key === key)?.source;
    return found?.nodeId === node.id && found.path.length === 0 && found.variable === variable;
  });
}

interface Wrapping {
  readonly graph: Graph;
  readonly inner: Graph;
  readonly name: string;
  readonly returned: readonly ReturnedOutput[];
  readonly shape: ArmShape;
  readonly types: ReadonlyMap<string, AnyType>;
  readonly nodeId: string;
}

function wrapped({ graph, inner, name, returned, shape, types, nodeId }: Wrapping): Node {
  const { compilation } = graph;
  const captured = new CapturedReferences(inner, types);
  const nodes = inner.nodes.map((node) => captured.rewrite(clone(NodeSchema, node)));
  const outputs = shape.outputs.map(({ key, variable }) => {
    const found = returned.find((output) => output.key === key);
    if (found === undefined) throw new GraphError(`${name} does not give ${key ?? "an output"}, which the first arm gives`);
    return bindReference(variable, captured.inside(found.source));
  });
  const id = identify(compilation.registration, ResourceType.WORKFLOW, name);
  const outputTypes = Object.fromEntries(shape.outputs.map(({ variable, type }) => [variable, type]));
  const template: WorkflowTemplate = create(WorkflowTemplateSchema, {
    id,
    metadata: {},
    metadataDefaults: {},
    interface: typedInterfaceOf({ inputs: captured.inputs(), outputs: outputTypes }),
    nodes,
    outputs,
  });
  compilation.workflows.set(name, { template, subWorkflows: subWorkflowsOf(template, compilation) });
  const inputs = captured.bindings();
  const target = { case: "workflowNode" as const, value: { reference: { case: "subWorkflowRef" as const, value: id } } };
  return makeNode({ id: nodeId, inputs, metadata: nodeMetadata(name.split(".").at(-1) ?? name, {}), target });
}
