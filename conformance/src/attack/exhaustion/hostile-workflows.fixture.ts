import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type NodeSchema, type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { TARGET } from "../../stack/shell-tasks.js";

type NodeInit = MessageInitShape<typeof NodeSchema>;

const duration = { duration: { type: { type: { case: "simple" as const, value: SimpleType.DURATION } } } };
const ofTask = (name: string) => ({
  case: "taskNode" as const,
  value: { reference: { case: "referenceId" as const, value: idOf(ResourceType.TASK, name) } },
});
const FROM_INPUT = { nodeId: "", var: "duration" };
const fromInput = [{ var: "duration", binding: { value: { case: "promise" as const, value: FROM_INPUT } } }];

function idOf(resourceType: ResourceType, name: string): Identifier {
  return create(IdentifierSchema, { ...TARGET, resourceType, name });
}

function template(name: string, nodes: readonly NodeInit[]): WorkflowTemplate {
  return create(WorkflowTemplateSchema, {
    id: idOf(ResourceType.WORKFLOW, name),
    metadata: {},
    metadataDefaults: {},
    interface: { inputs: { variables: duration }, outputs: {} },
    nodes: [...nodes],
  });
}

const SLEEP_TASK = "hostile.sleep";
const SLEEP_MAP_TASK = "hostile.sleep.map";

/**
 * Registers sleep tasks that take their duration as input. The map variants declare lists, as
 * flytekit writes them.
 */
export async function registerSleepTasks(client: FlyteClient): Promise<void> {
  const collectionType = { type: { case: "simple" as const, value: SimpleType.DURATION } };
  const lists = { duration: { type: { type: { case: "collectionType" as const, value: collectionType } } } };
  for (const [name, variables] of Object.entries({ [SLEEP_TASK]: duration, [SLEEP_MAP_TASK]: lists })) {
    const id = idOf(ResourceType.TASK, name);
    const metadata = { runtime: { type: 1, version: "1", flavor: "test" }, retries: { retries: 0 } };
    const template = { id, type: "core-sleep", metadata, interface: { inputs: { variables }, outputs: {} } };
    await client.admin.createTask({ id, spec: { template } });
  }
}

async function registered(
  client: FlyteClient,
  workflow: WorkflowTemplate,
  subWorkflows: readonly WorkflowTemplate[] = [],
): Promise<Identifier> {
  const workflowId = workflow.id as Identifier;
  await client.admin.createWorkflow({ id: workflowId, spec: { template: workflow, subWorkflows: [...subWorkflows] } });
  const id = idOf(ResourceType.LAUNCH_PLAN, workflowId.name);
  await client.admin.createLaunchPlan({ id, spec: { workflowId, entityMetadata: {} } });
  return id;
}

/**
 * Registers sub-workflows that each run the next one twice, 2^`levels` nodes in all. Resolves to
 * the launch plan.
 */
export async function registerDoubling(client: FlyteClient, levels: number): Promise<Identifier> {
  const nameOf = (level: number) => `hostile.doubling-${levels}.${level}`;
  const twice = (target: NodeInit["target"]): NodeInit[] =>
    ["a", "b"].map((id) => ({ id, metadata: { name: id }, inputs: fromInput, target }));
  const workflows = Array.from({ length: levels }, (_, level) =>
    template(
      nameOf(level),
      twice(
        level === levels - 1
          ? ofTask(SLEEP_TASK)
          : {
              case: "workflowNode",
              value: { reference: { case: "subWorkflowRef", value: idOf(ResourceType.WORKFLOW, nameOf(level + 1)) } },
            },
      ),
    ),
  );
  const [root, ...rest] = workflows;
  if (root === undefined) throw new Error("a doubling workflow needs a level");
  return registered(client, root, rest);
}

/**
 * Registers independent array nodes of `items` items over one task. Resolves to the launch plan.
 */
export async function registerWideMaps(client: FlyteClient, maps: number, items: number): Promise<Identifier> {
  const bindings = Array.from({ length: items }, () => ({ value: { case: "promise" as const, value: { nodeId: "", var: "duration" } } }));
  const nodes = Array.from(
    { length: maps },
    (_, index): NodeInit => ({
      id: `m${index}`,
      metadata: { name: `m${index}` },
      inputs: [{ var: "duration", binding: { value: { case: "collection", value: { bindings } } } }],
      target: { case: "arrayNode", value: { node: { id: "item", metadata: { name: "item" }, target: ofTask(SLEEP_MAP_TASK) } } },
    }),
  );
  return registered(client, template(`hostile.maps-${maps}x${items}`, nodes));
}

/**
 * Registers an array of `outer` sub-workflows, each with an array of `inner` items. Resolves to the
 * launch plan.
 */
export async function registerMapOfMaps(client: FlyteClient, outer: number, inner: number): Promise<Identifier> {
  const name = `hostile.nested-${outer}x${inner}`;
  const lists = (items: number) => [
    {
      var: "duration",
      binding: {
        value: {
          case: "collection" as const,
          value: { bindings: Array.from({ length: items }, () => ({ value: { case: "promise" as const, value: FROM_INPUT } })) },
        },
      },
    },
  ];
  const array = (id: string, items: number, target: NodeInit["target"], isOriginalSubNodeInterface: boolean): NodeInit => ({
    id,
    metadata: { name: id },
    inputs: lists(items),
    target: { case: "arrayNode", value: { node: { id: "item", metadata: { name: "item" }, target }, isOriginalSubNodeInterface } },
  });
  const reference = { case: "subWorkflowRef" as const, value: idOf(ResourceType.WORKFLOW, `${name}.inner`) };
  return registered(client, template(name, [array("outer", outer, { case: "workflowNode", value: { reference } }, true)]), [
    template(`${name}.inner`, [array("inner", inner, ofTask(SLEEP_MAP_TASK), false)]),
  ]);
}

/**
 * Registers nodes whose metadata takes `bytes`: a closure of that size. Resolves to the launch
 * plan.
 */
export async function registerLargeClosure(client: FlyteClient, nodes: number, bytes: number): Promise<Identifier> {
  const name = "x".repeat(Math.floor(bytes / nodes));
  const all = Array.from(
    { length: nodes },
    (_, index): NodeInit => ({
      id: `n${index}`,
      metadata: { name },
      inputs: fromInput,
      target: ofTask(SLEEP_TASK),
    }),
  );
  return registered(client, template(`hostile.closure-${nodes}x${bytes}`, all));
}

/** Registers gate nodes that each wait for their own signal. Resolves to the launch plan. */
export async function registerGates(client: FlyteClient, gates: number): Promise<Identifier> {
  const type = { type: { case: "simple" as const, value: SimpleType.BOOLEAN } };
  const nodes = Array.from(
    { length: gates },
    (_, index): NodeInit => ({
      id: `g${index}`,
      metadata: { name: `g${index}` },
      target: {
        case: "gateNode",
        value: { condition: { case: "signal", value: { signalId: `s${index}`, type, outputVariableName: "o0" } } },
      },
    }),
  );
  return registered(client, template(`hostile.gates-${gates}`, nodes));
}
