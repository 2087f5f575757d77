import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { BooleanExpressionSchema, ComparisonExpression_Operator } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import { IdentifierSchema, ResourceType, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TypedInterfaceSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Binding, BindingSchema, type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { ArrayNodeSchema, GateNodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { ErrorSchema, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import {
  END_NODE,
  FINALIZER,
  START_NODE,
  type GraphModel,
  type NodeModel,
  type NodeTarget,
  type ParsedWorkflow,
  type WorkflowModel,
  type WorkflowStatus,
} from "@flyte-ts/workflow-crd";
import { boundNodes } from "../../engine/graph/index-graph.js";

/** Source of an input: `node.var`, its first element (`node.var[0]`), an input of the graph (`.var`), or a number. */
export type Source = string | number;

export interface TaskSpec {
  readonly kind: "task";
  readonly inputs?: Readonly<Record<string, Source>>;
  readonly after?: readonly string[];
  /** Maximum attempts. */
  readonly attempts?: number;
  readonly timeoutMs?: number;
  readonly activeMs?: number;
  readonly type?: string;
  readonly cache?: CacheSpec;
}
export interface CacheSpec {
  /** Tasks of one name share cached outputs, also between executions. */
  readonly task: string;
  readonly serialize?: boolean;
  readonly ignore?: readonly string[];
}
export interface SubWorkflowSpec {
  readonly kind: "sub";
  readonly graph: string;
  readonly inputs?: Readonly<Record<string, Source>>;
  readonly after?: readonly string[];
}
export interface BranchSpec {
  readonly kind: "branch";
  /** Number compared with the arms' bounds. */
  readonly on: Source;
  /** Chosen when the number is less than `below`; evaluated in order. */
  readonly arms: readonly { readonly below: number; readonly run: NodeSpec }[];
  readonly otherwise?: NodeSpec;
  readonly error?: string;
  readonly after?: readonly string[];
  readonly timeoutMs?: number;
}
export interface SleepSpec {
  readonly kind: "sleep";
  readonly ms: number;
  readonly after?: readonly string[];
}
/** A child execution; the simulated admin decides what `launchPlan` runs. */
export interface LaunchSpec {
  readonly kind: "launch";
  readonly launchPlan: string;
  readonly inputs?: Readonly<Record<string, Source>>;
  readonly after?: readonly string[];
  readonly attempts?: number;
  readonly timeoutMs?: number;
  readonly activeMs?: number;
}
/** Waits for a number, which is its output `o0`. */
export interface SignalSpec {
  readonly kind: "signal";
  readonly signal: string;
  readonly after?: readonly string[];
  readonly timeoutMs?: number;
}
/** Waits for an approval, and outputs its input under the same name. */
export interface ApproveSpec {
  readonly kind: "approve";
  readonly signal: string;
  readonly inputs: Readonly<Record<string, Source>>;
  readonly after?: readonly string[];
  readonly timeoutMs?: number;
}
export type NodeSpec = TaskSpec | SubWorkflowSpec | BranchSpec | SleepSpec | LaunchSpec | SignalSpec | ApproveSpec | ArraySpec;
export interface ArraySpec {
  readonly kind: "array";
  /** Target that runs for each item; inputs and edges are the array's. */
  readonly run: Omit<TaskSpec, "inputs" | "after"> | Omit<SubWorkflowSpec, "inputs" | "after"> | Omit<LaunchSpec, "inputs" | "after">;
  readonly lists: Readonly<Record<string, readonly Source[]>>;
  /** Inputs that are the same for all items. */
  readonly bound?: Readonly<Record<string, Source>>;
  readonly parallelism?: number;
  readonly minSuccesses?: number;
  readonly minRatio?: number;
  readonly after?: readonly string[];
  readonly timeoutMs?: number;
}

export interface GraphSpec {
  readonly nodes: Readonly<Record<string, NodeSpec>>;
  readonly outputs?: Readonly<Record<string, Source>>;
  readonly onFailure?: NodeSpec;
  readonly finishExecutable?: boolean;
}

/** A task of this type and a name of `dynamics` produces that graph. */
export const DYNAMIC = "dynamic-";

export interface WorkflowSpec {
  readonly main: GraphSpec;
  /** Workflows of launch plans, by name. */
  readonly launchPlans?: Readonly<Record<string, WorkflowSpec>>;
  /** Graphs that tasks produce, by the names in their types. */
  readonly dynamics?: Readonly<Record<string, GraphSpec>>;
  readonly graphs?: Readonly<Record<string, GraphSpec>>;
  readonly inputs?: Readonly<Record<string, number>>;
  readonly maxParallelism?: number;
  readonly interruptible?: boolean;
  readonly name?: string;
  readonly overwriteCache?: boolean;
  /** Name of the recovered execution. */
  readonly recovers?: string;
}

export function numbers(values: Readonly<Record<string, number>>): LiteralMap {
  const literals = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      {
        value: {
          case: "scalar" as const,
          value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value: BigInt(value) } } } },
        },
      },
    ]),
  );
  return create(LiteralMapSchema, { literals });
}

/** Parsed resource, as admin would create it from a compiled workflow. */
export function buildWorkflow(spec: WorkflowSpec, status: WorkflowStatus = { phase: 0 }): ParsedWorkflow {
  const tasks = new Map<string, WorkflowModel["tasks"] extends ReadonlyMap<string, infer T> ? T : never>();
  const name = spec.name ?? "exec";
  const graphs = new Map<string, GraphModel>();
  for (const [id, graph] of Object.entries(spec.graphs ?? {})) graphs.set(id, buildGraph(id, graph, tasks));
  const model: WorkflowModel = {
    key: `p-d/${name}`,
    namespace: "p-d",
    name,
    uid: `uid-${name}`,
    executionId: create(WorkflowExecutionIdentifierSchema, { project: "p", domain: "d", name }),
    workflowId: create(IdentifierSchema, { resourceType: ResourceType.WORKFLOW, project: "p", domain: "d", name: "wf", version: "v1" }),
    labels: { "execution-id": name },
    annotations: {},
    root: buildGraph("p:d:wf", spec.main, tasks),
    subWorkflows: graphs,
    tasks,
    inputs: numbers(spec.inputs ?? {}),
    acceptedAt: undefined,
    options: {
      maxParallelism: spec.maxParallelism ?? 0,
      interruptible: undefined,
      defaultInterruptible: spec.interruptible ?? false,
      overwriteCache: spec.overwriteCache ?? false,
      environment: [],
      resources: { defaults: NONE, limits: NONE },
      securityContext: undefined,
      serviceAccountName: "",
      rawOutputPrefix: "",
      consoleUrl: "",
      recoveryExecution:
        spec.recovers === undefined
          ? undefined
          : create(WorkflowExecutionIdentifierSchema, { project: "p", domain: "d", name: spec.recovers }),
    },
  };
  return { model, status, resourceVersion: "1", deletionRequested: false, finalizers: [FINALIZER] };
}

const NONE = { cpu: "", memory: "", ephemeralStorage: "", storage: "", gpu: "" };

type Tasks = Map<string, ReturnType<typeof template>>;

function buildGraph(id: string, spec: GraphSpec, tasks: Tasks): GraphModel {
  const nodes = new Map<string, NodeModel>();
  const upstream = new Map<string, readonly string[]>();
  const downstream = new Map<string, string[]>();
  const arms = new Set<string>();
  nodes.set(START_NODE, node(START_NODE, { kind: "start" }, []));
  const add = (nodeId: string, nodeSpec: NodeSpec): void => {
    const built = buildNode(nodeId, nodeSpec, tasks);
    nodes.set(nodeId, built);
    upstream.set(nodeId, [...new Set([...boundNodes(built.inputBindings), ...(nodeSpec.after ?? [])])]);
    if (nodeSpec.kind !== "branch") return;
    for (const [armId, arm] of armsOf(nodeId, nodeSpec)) {
      arms.add(armId);
      add(armId, arm);
    }
  };
  for (const [nodeId, nodeSpec] of Object.entries(spec.nodes)) add(nodeId, nodeSpec);
  const outputBindings = bindings(spec.outputs ?? {});
  nodes.set(END_NODE, node(END_NODE, { kind: "end" }, outputBindings));
  connect({ nodes, upstream, downstream, arms });
  return {
    id,
    nodes,
    upstream,
    downstream,
    outputs: create(VariableMapSchema, {}),
    outputBindings,
    onFailure: spec.onFailure === undefined ? undefined : buildNode("fn0", spec.onFailure, tasks),
    onFailurePolicy: spec.finishExecutable === true ? "FAIL_AFTER_EXECUTABLE_NODES_COMPLETE" : "FAIL_IMMEDIATELY",
  };
}

interface Edges {
  readonly nodes: ReadonlyMap<string, NodeModel>;
  readonly upstream: Map<string, readonly string[]>;
  readonly downstream: Map<string, string[]>;
  readonly arms: ReadonlySet<string>;
}

/**
 * Edges as the compiler creates them: from the start to nodes without dependencies, from nodes without dependents to
 * the end, none from or to a branch's arms.
 */
function connect({ nodes, upstream, downstream, arms }: Edges): void {
  for (const id of nodes.keys())
    if (id !== START_NODE && id !== END_NODE && (upstream.get(id)?.length ?? 0) === 0) upstream.set(id, [START_NODE]);
  for (const [id, ups] of upstream) if (!arms.has(id)) for (const up of ups) downstream.set(up, [...(downstream.get(up) ?? []), id]);
  const end = nodes.get(END_NODE);
  const leaves = [...nodes.keys()].filter((id) => id !== START_NODE && id !== END_NODE && !arms.has(id) && !downstream.has(id));
  const last = [...new Set([...boundNodes(end?.inputBindings ?? []), ...leaves])];
  upstream.set(END_NODE, last.length === 0 ? [START_NODE] : last);
  for (const up of upstream.get(END_NODE) ?? []) downstream.set(up, [...(downstream.get(up) ?? []), END_NODE]);
}

function armsOf(id: string, spec: BranchSpec): [string, NodeSpec][] {
  const all = [...spec.arms.map((arm) => arm.run), ...(spec.otherwise === undefined ? [] : [spec.otherwise])];
  return all.map((arm, index) => [`${id}-n${index}`, arm]);
}

function buildNode(id: string, spec: NodeSpec, tasks: Tasks): NodeModel {
  switch (spec.kind) {
    case "task": {
      const type = spec.type ?? "sim";
      const key = `t-${id}-${type}`;
      tasks.set(key, template(key, type, spec.cache));
      const built = node(id, { kind: "task", task: key }, bindings(spec.inputs ?? {}));
      return { ...built, maxAttempts: spec.attempts, executionDeadlineMs: spec.timeoutMs, activeDeadlineMs: spec.activeMs };
    }
    case "array":
      return buildArray(id, spec, tasks);
    case "sub":
      return node(id, { kind: "subWorkflow", workflow: spec.graph }, bindings(spec.inputs ?? {}));
    case "sleep": {
      const duration = { seconds: BigInt(Math.floor(spec.ms / 1_000)), nanos: (spec.ms % 1_000) * 1e6 };
      const gate = create(GateNodeSchema, { condition: { case: "sleep", value: { duration } } });
      return node(id, { kind: "gate", gate }, []);
    }
    case "launch": {
      const launchPlan = create(IdentifierSchema, {
        resourceType: ResourceType.LAUNCH_PLAN,
        project: "p",
        domain: "d",
        name: spec.launchPlan,
        version: "v1",
      });
      const built = node(id, { kind: "launchPlan", launchPlan }, bindings(spec.inputs ?? {}));
      return { ...built, maxAttempts: spec.attempts, executionDeadlineMs: spec.timeoutMs, activeDeadlineMs: spec.activeMs };
    }
    case "signal": {
      const type = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
      const gate = create(GateNodeSchema, {
        condition: { case: "signal", value: { signalId: spec.signal, type, outputVariableName: "o0" } },
      });
      return { ...node(id, { kind: "gate", gate }, []), executionDeadlineMs: spec.timeoutMs };
    }
    case "approve": {
      const gate = create(GateNodeSchema, { condition: { case: "approve", value: { signalId: spec.signal } } });
      return { ...node(id, { kind: "gate", gate }, bindings(spec.inputs)), executionDeadlineMs: spec.timeoutMs };
    }
    case "branch": {
      const target: NodeTarget = {
        kind: "branch",
        branch: {
          // oxlint-disable-next-line unicorn/no-thenable -- the model's name for what follows a condition
          arms: spec.arms.map((arm, index) => ({ condition: lessThan(arm.below), then: `${id}-n${index}` })),
          otherwise: spec.otherwise === undefined ? undefined : `${id}-n${spec.arms.length}`,
          otherwiseError: spec.error === undefined ? undefined : create(ErrorSchema, { message: spec.error }),
        },
      };
      return { ...node(id, target, bindings({ x: spec.on })), executionDeadlineMs: spec.timeoutMs };
    }
  }
}

function buildArray(id: string, spec: ArraySpec, tasks: Tasks): NodeModel {
  const subNode = buildNode(`${id}-sub`, spec.run, tasks);
  if (subNode.target.kind === "task") {
    const lists = template(subNode.target.task, spec.run.kind === "task" ? (spec.run.type ?? "sim") : "sim");
    lists.interface = create(TypedInterfaceSchema, { outputs: { variables: { o0: { type: LIST_OF_INTEGERS } } } });
    tasks.set(subNode.target.task, lists);
  }
  const array = create(ArrayNodeSchema, { boundInputs: Object.keys(spec.bound ?? {}) });
  if (spec.parallelism !== undefined) array.parallelismOption = { case: "parallelism", value: spec.parallelism };
  if (spec.minSuccesses !== undefined) array.successCriteria = { case: "minSuccesses", value: spec.minSuccesses };
  if (spec.minRatio !== undefined) array.successCriteria = { case: "minSuccessRatio", value: spec.minRatio };
  const lists = Object.entries(spec.lists).map(([name, items]) =>
    create(BindingSchema, { var: name, binding: { value: boundList(items) } }),
  );
  const target: NodeTarget = { kind: "array", array, subNode };
  return { ...node(id, target, [...lists, ...bindings(spec.bound ?? {})]), executionDeadlineMs: spec.timeoutMs };
}

const LIST_OF_INTEGERS = create(LiteralTypeSchema, {
  type: { case: "collectionType", value: { type: { case: "simple", value: SimpleType.INTEGER } } },
});

function boundList(items: readonly Source[]): BindingValue {
  return { case: "collection", value: { bindings: items.map((item) => ({ value: bound(item) })) } };
}

function lessThan(bound: number) {
  return create(BooleanExpressionSchema, {
    expr: {
      case: "comparison",
      value: {
        operator: ComparisonExpression_Operator.LT,
        leftValue: { val: { case: "var", value: "x" } },
        rightValue: { val: { case: "primitive", value: { value: { case: "integer", value: BigInt(bound) } } } },
      },
    },
  });
}

function template(key: string, type: string, cache?: CacheSpec) {
  return create(TaskTemplateSchema, {
    id: { resourceType: ResourceType.TASK, project: "p", domain: "d", name: cache?.task ?? key, version: "v1" },
    type,
    ...(cache !== undefined && {
      metadata: {
        discoverable: true,
        discoveryVersion: "1",
        cacheSerializable: cache.serialize ?? false,
        cacheIgnoreInputVars: [...(cache.ignore ?? [])],
      },
      interface: {
        outputs: { variables: { o0: { type: { type: { case: "simple", value: SimpleType.INTEGER } } } } },
      },
    }),
  });
}

function node(id: string, target: NodeTarget, inputBindings: readonly Binding[]): NodeModel {
  return {
    id,
    name: id,
    target,
    inputBindings,
    maxAttempts: undefined,
    executionDeadlineMs: undefined,
    activeDeadlineMs: undefined,
    interruptible: undefined,
    outputAliases: [],
    resources: undefined,
    extendedResources: undefined,
    containerImage: "",
    podTemplate: undefined,
  };
}

type BindingValue = NonNullable<NonNullable<MessageInitShape<typeof BindingSchema>["binding"]>["value"]>;

function bindings(inputs: Readonly<Record<string, Source>>): readonly Binding[] {
  return Object.entries(inputs).map(([name, source]) => create(BindingSchema, { var: name, binding: { value: bound(source) } }));
}

function bound(source: Source): BindingValue {
  if (typeof source === "number") {
    return { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: BigInt(source) } } } } };
  }
  const [, nodeId = "", variable = "", index] = /^([^.]*)\.([^[]+)(?:\[(\d+)\])?$/.exec(source) ?? [];
  const attrPath = index === undefined ? [] : [{ value: { case: "intValue" as const, value: Number(index) } }];
  return { case: "promise", value: { nodeId: nodeId === "" ? START_NODE : nodeId, var: variable, attrPath } };
}
