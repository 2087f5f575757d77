import { create } from "@bufbuild/protobuf";
import { IfBlockSchema, type IfBlock, type Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { GraphError } from "../entity/errors.js";
import { type Arm, type ArmShape, buildArm } from "./arm.js";
import { bindReference } from "../graph/binding.js";
import { type Condition, type ConditionVariables, expressionOf } from "./condition.js";
import { currentGraph, type Graph } from "../graph/graph.js";
import { makeNode, nodeMetadata } from "../graph/node.js";

/** A branch that is being built; each arm gives the same outputs as the first. */
export interface Branch<R> {
  /** Adds an arm for when the conditions before do not hold. */
  when(condition: Condition, arm: () => R): Branch<R>;
  otherwise(arm: () => R): R;
  /** Fails the node with this message. */
  otherwiseFail(message: string): R;
}

/** Begins a branch: its arm is executed when the condition holds. */
export function when<R>(condition: Condition, arm: () => R): Branch<R> {
  return new BranchBuilder<R>(currentGraph("when()")).when(condition, arm);
}

type Default = { case: "elseNode"; value: Node } | { case: "error"; value: { failedNodeId: string; message: string } };

class BranchBuilder<R> implements Branch<R> {
  private readonly id: string;
  private readonly variables: ConditionVariables = new Map();
  private readonly blocks: IfBlock[] = [];
  private readonly arms: Arm[] = [];
  private shape: ArmShape | undefined;

  constructor(private readonly graph: Graph) {
    this.id = graph.reserveId(undefined);
  }

  when(condition: Condition, arm: () => R): Branch<R> {
    const expression = expressionOf(condition, this.variables);
    this.blocks.push(create(IfBlockSchema, { condition: expression, thenNode: this.build(arm) }));
    return this;
  }

  otherwise(arm: () => R): R {
    return this.finish({ case: "elseNode", value: this.build(arm) });
  }

  otherwiseFail(message: string): R {
    return this.finish({ case: "error", value: { failedNodeId: this.id, message } });
  }

  private build(arm: () => R): Node {
    const built = buildArm({ graph: this.graph, branchId: this.id, index: this.arms.length, shape: this.shape, build: arm });
    this.arms.push(built);
    this.shape ??= built.shape;
    return built.node;
  }

  private finish(last: Default): R {
    const [first, ...other] = this.blocks;
    if (first === undefined || this.shape === undefined) throw new GraphError("a branch has no arm");
    const inputs = [...this.variables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, source]) => bindReference(name, source));
    const ifElse = { case: first, other, default: last };
    // Flyte starts an arm as soon as its data is there: the branch waits for the other nodes.
    const upstream = this.arms.flatMap((arm) => arm.upstream);
    const target = { case: "branchNode" as const, value: { ifElse } };
    this.graph.add(makeNode({ id: this.id, inputs, upstream, metadata: nodeMetadata("when", {}), target }));
    return this.shape.references(this.id) as R;
  }
}
