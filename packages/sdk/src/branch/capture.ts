import { create } from "@bufbuild/protobuf";
import type { Binding, BindingData } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type OutputReference, OutputReferenceSchema, type PromiseAttribute } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { GraphError } from "../entity/errors.js";
import type { AnyType } from "../type/type.js";
import { bindReference } from "../graph/binding.js";
import type { Graph } from "../graph/graph.js";
import type { ReferenceSource } from "../graph/reference.js";
import { referenceKeyOf } from "../graph/type-recorder.js";
import { armsOf } from "../graph/sub-workflows.js";

/** References of an arm to nodes outside of it, which become inputs of its sub-workflow. */
export class CapturedReferences {
  private readonly captured = new Map<string, { readonly name: string; readonly source: ReferenceSource }>();

  constructor(
    private readonly inner: Graph,
    private readonly types: ReadonlyMap<string, AnyType>,
  ) {}

  inputs(): Record<string, AnyType> {
    return Object.fromEntries([...this.captured.values()].map(({ name, source }) => [name, source.type]));
  }

  bindings(): Binding[] {
    return [...this.captured.values()].map(({ name, source }) => bindReference(name, source));
  }

  /** Returns the reference as the inside of the sub-workflow sees it. */
  inside(source: ReferenceSource): ReferenceSource {
    if (this.inner.has(source.nodeId)) return source;
    const key = referenceKeyOf(source.nodeId, source.variable, source.path);
    const known = this.captured.get(key) ?? { name: `in${this.captured.size}`, source };
    this.captured.set(key, known);
    return { nodeId: "", variable: known.name, path: [], type: source.type };
  }

  /** Changes the bindings of a node, and of the nodes within it. */
  rewrite(node: Node): Node {
    for (const { binding } of node.inputs) this.rewriteData(binding);
    node.upstreamNodeIds = node.upstreamNodeIds.filter((id) => this.inner.has(id));
    for (const arm of armsOf(node)) this.rewrite(arm);
    if (node.target.case === "arrayNode" && node.target.value.node !== undefined) this.rewrite(node.target.value.node);
    return node;
  }

  private rewriteData(data: BindingData | undefined): void {
    const value = data?.value;
    if (value?.case === "promise") value.value = this.rewritePromise(value.value);
    if (value?.case === "collection") for (const item of value.value.bindings) this.rewriteData(item);
    if (value?.case === "map") for (const item of Object.values(value.value.bindings)) this.rewriteData(item);
  }

  private rewritePromise(promise: OutputReference): OutputReference {
    if (this.inner.has(promise.nodeId)) return promise;
    const path = promise.attrPath.map(stepOf);
    const type = this.types.get(referenceKeyOf(promise.nodeId, promise.var, path));
    if (type === undefined) throw new GraphError(`the type of ${promise.nodeId}.${promise.var} is unknown`);
    const { variable } = this.inside({ nodeId: promise.nodeId, variable: promise.var, path, type });
    return create(OutputReferenceSchema, { nodeId: "", var: variable });
  }
}

function stepOf({ value }: PromiseAttribute): string | number {
  return value.value ?? "";
}
