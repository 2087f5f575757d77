import type { TypedInterface, Variable, VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { START_NODE } from "@flyte-ts/domain/graph";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { ErrorCollector } from "../error/collector.js";
import { duplicateAlias, notBound } from "../error/errors.js";
import { Graph } from "./graph.js";
import type { LaunchPlanInterface } from "./source.js";
import type { SubWorkflowIndex } from "../references/sub-workflows.js";

export type Variables = ReadonlyMap<string, Variable>;

/** Inputs and outputs of a node; an absent part is empty. */
export interface Interface {
  readonly inputs: Variables;
  readonly outputs: Variables;
}

export const NO_VARIABLES: Variables = new Map();

/** State shared by all workflows of one compilation. */
export interface CompileContext {
  readonly tasks: ReadonlyMap<string, TaskTemplate>;
  readonly launchPlans: ReadonlyMap<string, LaunchPlanInterface>;
  readonly subWorkflows: SubWorkflowIndex;
  readonly liftArrayInterfaces: boolean;
  readonly mutateTemplates: boolean;
  readonly errors: ErrorCollector;
  readonly interfaces: InterfaceCache;
}

/** Reads the interface of a task once, however many nodes use it. */
export class InterfaceCache {
  private readonly cache = new Map<VariableMap, Variables>();

  interfaceOf(typed: TypedInterface | undefined): Interface {
    return { inputs: this.variables(typed?.inputs), outputs: this.variables(typed?.outputs) };
  }

  variables(map: VariableMap | undefined): Variables {
    if (map === undefined) return NO_VARIABLES;
    const known = this.cache.get(map);
    if (known !== undefined) return known;
    const variables = new Map(Object.entries(map.variables));
    this.cache.set(map, variables);
    return variables;
  }
}

/** A node with the compiler's results about it. */
export class NodeBuilder {
  /** Undefined until it is computed; stays undefined when it has errors. */
  interface: Interface | undefined;
  /** True once a branch has given its arms their full ids. */
  armsNamed = false;
  private outputs: Variables | undefined;
  private outputsValid = false;

  constructor(readonly node: Node) {}

  /**
   * Returns the outputs by the names under which other nodes may bind them; undefined where the
   * aliases have errors, reported the first time.
   */
  effectiveOutputs(errors: ErrorCollector): Variables | undefined {
    if (this.interface === undefined) return NO_VARIABLES;
    if (this.outputs === undefined) {
      const { outputs } = this.interface;
      const ok = errors.addsNoErrors(() => {
        this.outputs = applyAliases(this.node, outputs, errors);
      });
      this.outputsValid = ok;
    }
    return this.outputsValid ? this.outputs : undefined;
  }
}

function applyAliases({ id, outputAliases }: Node, outputs: Variables, errors: ErrorCollector): Variables {
  if (outputAliases.length === 0) return outputs;
  const aliases = new Map<string, string>();
  for (const { var: name, alias } of outputAliases) {
    if (aliases.has(name)) errors.add(duplicateAlias(id, alias));
    else aliases.set(name, alias);
  }
  for (const [name, alias] of aliases) {
    if (!outputs.has(name)) errors.add(notBound(id, alias));
  }
  return new Map([...outputs].map(([name, variable]) => [aliases.get(name) ?? name, variable]));
}

/** A workflow being compiled: the nodes that others may reference, and the graph so far. */
export class WorkflowBuilder {
  readonly graph = new Graph();
  private readonly nodes = new Map<string, NodeBuilder>();
  private readonly builders = new Map<Node, NodeBuilder>();

  constructor(readonly context: CompileContext) {}

  get errors(): ErrorCollector {
    return this.context.errors;
  }

  /** Returns the builder of a node, always the same one; also for nodes within branches. */
  builderOf(node: Node): NodeBuilder {
    const known = this.builders.get(node);
    if (known !== undefined) return known;
    const builder = new NodeBuilder(node);
    this.builders.set(node, builder);
    return builder;
  }

  /** Registers a node. The first of two with one id is kept. */
  addNode(builder: NodeBuilder): boolean {
    if (this.nodes.has(builder.node.id)) return false;
    this.nodes.set(builder.node.id, builder);
    return true;
  }

  /** Returns the node that a promise references; no id means the workflow's inputs. */
  nodeOf(id: string): NodeBuilder | undefined {
    return this.nodes.get(id === "" ? START_NODE : id);
  }

  /** Returns the node registered under exactly this id. */
  node(id: string): NodeBuilder | undefined {
    return this.nodes.get(id);
  }

  nodeIds(): readonly string[] {
    return [...this.nodes.keys()];
  }
}
