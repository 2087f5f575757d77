import type { TypedInterface, Variable, VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { ErrorCollector } from "../error/collector.js";
import { duplicateAlias, notBound } from "../error/errors.js";
import { Graph, START_NODE } from "./graph.js";
import type { LaunchPlanInterface } from "./source.js";
import type { SubWorkflowIndex } from "./sub-workflows.js";

export type Variables = ReadonlyMap<string, Variable>;

/** What a node takes and gives; a part that is absent is empty. */
export interface Interface {
  readonly inputs: Variables;
  readonly outputs: Variables;
}

export const NO_VARIABLES: Variables = new Map();

/** What all workflows of one compilation share. */
export interface Surroundings {
  readonly tasks: ReadonlyMap<string, TaskTemplate>;
  readonly launchPlans: ReadonlyMap<string, LaunchPlanInterface>;
  readonly subWorkflows: SubWorkflowIndex;
  readonly wrapOriginalInterfaces: boolean;
  readonly templatesMayChange: boolean;
  readonly errors: ErrorCollector;
  readonly interfaces: InterfaceCache;
}

/** A task that many nodes use has its interface read once. */
export class InterfaceCache {
  private readonly known = new Map<VariableMap, Variables>();

  of(typed: TypedInterface | undefined): Interface {
    return { inputs: this.variables(typed?.inputs), outputs: this.variables(typed?.outputs) };
  }

  variables(map: VariableMap | undefined): Variables {
    if (map === undefined) return NO_VARIABLES;
    const known = this.known.get(map);
    if (known !== undefined) return known;
    const variables = new Map(Object.entries(map.variables));
    this.known.set(map, variables);
    return variables;
  }
}

/** A node with what the compiler finds out about it. */
export class NodeBuilder {
  /** Undefined until it is found, and for good when it has errors. */
  interface: Interface | undefined;
  /** A branch gives its arms their full ids once, however often it is looked at. */
  armsNamed = false;
  private outputs: Variables | undefined;
  private outputsOk = false;

  constructor(readonly node: Node) {}

  /** The outputs by the names under which others may bind them; undefined where the aliases have errors, reported the first time. */
  effectiveOutputs(errors: ErrorCollector): Variables | undefined {
    if (this.interface === undefined) return NO_VARIABLES;
    if (this.outputs === undefined) {
      const { outputs } = this.interface;
      const ok = errors.passes(() => {
        this.outputs = aliased(this.node, outputs, errors);
      });
      this.outputsOk = ok;
    }
    return this.outputsOk ? this.outputs : undefined;
  }
}

function aliased({ id, outputAliases }: Node, outputs: Variables, errors: ErrorCollector): Variables {
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

/** One workflow under compilation: the nodes that others may refer to, and the graph as far as it is known. */
export class WorkflowBuilder {
  readonly graph = new Graph();
  private readonly nodes = new Map<string, NodeBuilder>();
  private readonly builders = new Map<Node, NodeBuilder>();

  constructor(readonly surroundings: Surroundings) {}

  get errors(): ErrorCollector {
    return this.surroundings.errors;
  }

  /** The builder of a node, the same for the same node; of nodes within branches too. */
  builderOf(node: Node): NodeBuilder {
    const known = this.builders.get(node);
    if (known !== undefined) return known;
    const builder = new NodeBuilder(node);
    this.builders.set(node, builder);
    return builder;
  }

  /** Makes a node known to others. Of two with one id the first stays. */
  addNode(builder: NodeBuilder): boolean {
    if (this.nodes.has(builder.node.id)) return false;
    this.nodes.set(builder.node.id, builder);
    return true;
  }

  /** The node that a promise means; no id means the workflow's inputs. */
  nodeOf(id: string): NodeBuilder | undefined {
    return this.nodes.get(id === "" ? START_NODE : id);
  }

  /** The node that was added under exactly this id. */
  node(id: string): NodeBuilder | undefined {
    return this.nodes.get(id);
  }

  nodeIds(): readonly string[] {
    return [...this.nodes.keys()];
  }
}
