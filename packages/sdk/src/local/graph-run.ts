import { evaluateCondition, resolveBindings } from "@flyte-ts/domain/binding";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Binding, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type BranchNode,
  type Node,
  WorkflowMetadata_OnFailurePolicy as Policy,
  type WorkflowTemplate,
} from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { upstreamOf } from "../graph/binding.js";
import { armsOf } from "../graph/sub-workflows.js";
import type { Definition } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import { runArray } from "./array-run.js";
import type { EntityOutcome, EntityRun, EntityRunner } from "./entity-runner.js";
import { failureInputs } from "./failure-inputs.js";
import { runGate } from "./gate-run.js";
import { NodeFailed } from "./local-error.js";

interface GraphParts {
  readonly nodes: readonly Node[];
  readonly outputs: readonly Binding[];
  readonly policy?: Policy;
}

/** Error of a node that does not start because another node has failed. */
class NotStarted extends Error {}

/** Runs graphs in this process: independent nodes together, each after its upstream nodes. */
export class GraphRun {
  constructor(
    private readonly runner: EntityRunner,
    private readonly subWorkflows: readonly WorkflowTemplate[],
  ) {}

  /** Runs a workflow; its failure node runs when it fails. */
  async workflow(template: WorkflowTemplate, run: EntityRun): Promise<LiteralMap> {
    const { nodes, outputs, failureNode, metadata } = template;
    try {
      return await this.graph({ nodes, outputs, policy: metadata?.onFailure ?? Policy.FAIL_IMMEDIATELY }, run);
    } catch (error) {
      if (failureNode !== undefined) await this.handleFailure(failureNode, run, error);
      throw error;
    }
  }

  async graph({ nodes, outputs, policy = Policy.FAIL_IMMEDIATELY }: GraphParts, run: EntityRun): Promise<LiteralMap> {
    const scope = new Scope(run.inputs);
    const state = { failed: false };
    const places = new Map(nodes.map((node) => [node.id, this.runner.reserve()]));
    const started = nodes.map(async (node) => {
      await scope.wait(upstreamIds(node));
      if (state.failed && policy === Policy.FAIL_IMMEDIATELY) throw new NotStarted();
      try {
        return await this.node(node, scope, run.id, places.get(node.id));
      } catch (error) {
        state.failed = true;
        throw error;
      }
    });
    for (const [i, node] of nodes.entries()) scope.set(node.id, started[i] as Promise<LiteralMap>);
    const ends = await Promise.allSettled(started);
    const errors = ends.flatMap((end) => (end.status === "rejected" && !(end.reason instanceof NotStarted) ? [end.reason as unknown] : []));
    if (errors.length > 0) throw errors[0];
    return scope.bind(outputs);
  }

  private async handleFailure(node: Node, run: EntityRun, error: unknown): Promise<void> {
    const failed = error instanceof NodeFailed ? error : new NodeFailed("unknown", "", error);
    const definition = this.definitionOf(node);
    const inputs = failureInputs(definition, new Scope(run.inputs).resolve(node.inputs), failed);
    await this.runner.runRecorded(definition, { id: join(run.id, node.id), inputs, metadata: node.metadata });
  }

  /** Runs a node whose upstream nodes have ended. */
  private async node(node: Node, scope: Scope, parent: string, place: number | undefined): Promise<LiteralMap> {
    const id = join(parent, node.id);
    const inputs = await scope.bind(node.inputs);
    const run = { id, inputs, metadata: node.metadata, ...(place !== undefined && { place }) };
    switch (node.target.case) {
      case "taskNode":
      case "workflowNode":
        return (await this.entity(node, run)).outputs;
      case "branchNode":
        return this.branch(node.target.value, { scope, parent, run, name: node.metadata?.name ?? "" });
      case "gateNode":
        return runGate(this.runner, node.target.value, run);
      case "arrayNode": {
        const inner = node.target.value.node;
        if (inner === undefined) throw new GraphError(`the array node ${id} has no node`);
        return runArray(this.runner, node.target.value, { definition: this.definitionOf(inner), run });
      }
      case undefined:
        throw new GraphError(`the node ${id} has no target`);
    }
  }

  private async entity(node: Node, run: EntityRun): Promise<EntityOutcome> {
    const template = this.armWorkflow(node);
    if (template === undefined) return this.runner.runRecorded(this.definitionOf(node), run);
    // A workflow that an arm of a branch became has no entity.
    return { outputs: await this.workflow(template, run), attempts: 1, cached: false };
  }

  private armWorkflow({ target }: Node): WorkflowTemplate | undefined {
    if (target.case !== "workflowNode" || target.value.reference.case !== "subWorkflowRef") return undefined;
    const id = target.value.reference.value;
    if (this.runner.parts.compilation.find(id) !== undefined) return undefined;
    return this.subWorkflows.find((template) => template.id?.name === id.name);
  }

  private definitionOf({ id, target }: Node): Definition {
    const reference = target.case === "taskNode" || target.case === "workflowNode" ? target.value.reference : undefined;
    const { compilation } = this.runner.parts;
    const identifier = reference?.value;
    if (identifier === undefined) throw new GraphError(`the node ${id} refers to nothing`);
    const map = identifier.resourceType === ResourceType.TASK ? compilation.mapTasks.get(identifier.name) : undefined;
    const definition = map?.task ?? compilation.find(identifier);
    if (definition === undefined) throw new GraphError(`the node ${id} refers to ${identifier.name}, which is unknown`);
    return definition;
  }

  /** Runs the arm of the first condition that holds. */
  private async branch(branch: BranchNode, { scope, parent, run, name }: BranchRun): Promise<LiteralMap> {
    const place = run.place ?? this.runner.reserve();
    const started = performance.now();
    const shared = { id: run.id, entity: name, kind: "branch" as const, inputs: {}, outputs: {}, attempts: 1, cached: false };
    const record = (phase: "SUCCEEDED" | "FAILED"): void =>
      this.runner.record(place, { ...shared, phase, milliseconds: performance.now() - started });
    try {
      const arm = chosenArm(branch, run);
      await scope.wait(upstreamIds(arm));
      const outputs = await this.node(arm, scope, parent, undefined);
      record("SUCCEEDED");
      return outputs;
    } catch (error) {
      record("FAILED");
      throw error instanceof NodeFailed ? error : new NodeFailed(run.id, name, error);
    }
  }
}

interface BranchRun {
  readonly scope: Scope;
  readonly parent: string;
  readonly run: EntityRun;
  readonly name: string;
}

function chosenArm({ ifElse }: BranchNode, { id, inputs }: EntityRun): Node {
  for (const block of [ifElse?.case, ...(ifElse?.other ?? [])]) {
    if (block?.condition === undefined || block.thenNode === undefined) throw new GraphError(`the branch ${id} has an incomplete arm`);
    const result = evaluateCondition(block.condition, inputs);
    if ("error" in result) throw new GraphError(`the branch ${id}: ${result.error.message}`);
    if (result.value) return block.thenNode;
  }
  if (ifElse?.default.case === "elseNode") return ifElse.default.value;
  throw new Error(ifElse?.default.case === "error" ? ifElse.default.value.message : `the branch ${id} has no arm`);
}

/** Outputs of the nodes of one graph, while they are made. */
class Scope {
  private readonly outputs = new Map<string, Promise<LiteralMap>>();
  private readonly known = new Map<string, LiteralMap>();

  constructor(inputs: LiteralMap) {
    this.known.set("start-node", inputs);
  }

  set(id: string, outputs: Promise<LiteralMap>): void {
    this.outputs.set(
      id,
      outputs.then((literals) => {
        this.known.set(id, literals);
        return literals;
      }),
    );
    this.outputs.get(id)?.catch(() => undefined);
  }

  /** Waits for nodes to succeed; a failed one keeps those after it from starting. */
  async wait(ids: readonly string[]): Promise<void> {
    // The promises of all nodes are there after the first tick.
    await Promise.resolve();
    for (const id of ids) {
      await this.outputs.get(id)?.catch(() => {
        throw new NotStarted();
      });
    }
  }

  async bind(bindings: readonly Binding[]): Promise<LiteralMap> {
    await this.wait(upstreamOf(bindings));
    return this.resolve(bindings);
  }

  resolve(bindings: readonly Binding[]): LiteralMap {
    const bound = resolveBindings(bindings, (id) => this.known.get(id));
    if ("literals" in bound) return bound.literals;
    if ("error" in bound) throw new GraphError(bound.error.message);
    throw new GraphError(`the outputs of ${("missing" in bound ? bound.missing : bound.offloaded).join(", ")} are missing`);
  }
}

/** Lists the nodes that a node follows, those of the arms of a branch included. */
function upstreamIds(node: Node): readonly string[] {
  return [...node.upstreamNodeIds, ...upstreamOf(node.inputs), ...armsOf(node).flatMap(upstreamIds)].filter((id) => id !== "");
}

function join(parent: string, id: string): string {
  return parent === "" ? id : `${parent}-${id}`;
}
