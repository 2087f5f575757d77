import type { JsonObject } from "@bufbuild/protobuf";
import { identifierKey } from "@flyte-ts/domain/identifier";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { TaskTemplateSchema, type TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { WorkflowBuildError } from "./build-error.js";
import { buildGraph, type GraphFields, graphFields } from "./graph.js";
import type { BindingForm } from "./node.js";
import { protobufJson } from "./protobuf-json.js";
import { stripInterface } from "./strip-interface.js";
import type { PlatformResources } from "../model/model.js";
import { applyPlatformResources } from "./task-resources.js";

/**
 * Fields of the resource that derive from the compiled closure alone, and may be kept in the blob
 * store instead.
 */
export interface ClosureFields {
  readonly spec: JsonObject;
  readonly tasks: JsonObject;
  readonly subWorkflows: JsonObject;
  /** Default for nodes that do not set it. */
  readonly interruptible: boolean;
}

/** @throws WorkflowBuildError when the closure is incomplete or not compiled. */
export function buildClosure(closure: CompiledWorkflowClosure, platform: PlatformResources): ClosureFields {
  const { spec, tasks, subWorkflows } = closureGraphs(closure, platform, { bindings: "json" });
  return {
    spec: buildGraph(spec),
    tasks,
    subWorkflows: Object.fromEntries(Array.from(subWorkflows, ([key, graph]) => [key, buildGraph(graph)])),
    interruptible: closure.primary?.template?.metadataDefaults?.interruptible ?? false,
  };
}

/**
 * The fields of {@link ClosureFields}, but with the header and the nodes of each graph still
 * separate.
 */
export interface ClosureGraphs {
  readonly spec: GraphFields;
  readonly tasks: JsonObject;
  /** By key. */
  readonly subWorkflows: ReadonlyMap<string, GraphFields>;
}

export interface ClosureGraphsOptions {
  readonly bindings: BindingForm;
  /** Nodes of the closure's own graph; default: those in the closure. */
  readonly nodes?: Iterable<Node>;
}

/** @throws WorkflowBuildError when the closure is incomplete or not compiled, as `graphFields`. */
export function closureGraphs(
  { primary, subWorkflows, tasks }: CompiledWorkflowClosure,
  platform: PlatformResources,
  { bindings, nodes }: ClosureGraphsOptions,
): ClosureGraphs {
  if (primary === undefined) throw new WorkflowBuildError("closure", "contains no primary workflow");
  const templates = new Map<string, TaskTemplate>();
  for (const { template } of tasks) {
    if (template?.id === undefined) throw new WorkflowBuildError("closure", "contains a task without an id");
    templates.set(identifierKey(template.id), template);
  }
  const byKey = new Map<string, GraphFields>();
  for (const workflow of subWorkflows) {
    const id = workflow.template?.id;
    if (id === undefined) throw new WorkflowBuildError("closure", "contains a sub-workflow without an id");
    byKey.set(identifierKey(id), graphFields(workflow, { tasks: templates, bindings }));
  }
  return {
    spec: graphFields(primary, { tasks: templates, bindings, nodes }),
    tasks: Object.fromEntries([...templates].map(([key, template]) => [key, taskJson(applyPlatformResources(template, platform))])),
    subWorkflows: byKey,
  };
}

function taskJson(template: TaskTemplate): JsonObject {
  return protobufJson(
    TaskTemplateSchema,
    template.interface === undefined ? template : { ...template, interface: stripInterface(template.interface) },
  );
}
