import type { JsonObject } from "@bufbuild/protobuf";
import { identifierKey } from "@flyte-ts/domain";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { TaskTemplateSchema, type TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { WorkflowBuildError } from "./build-error.js";
import { buildGraph } from "./graph.js";
import type { BindingForm } from "./node.js";
import { protoJson } from "./proto-json.js";
import { stripInterface } from "./strip-interface.js";
import { withResources, type PlatformResources } from "./task-resources.js";

/** Fields of the resource that come from the compiled closure alone, and may stand in the blob store instead. */
export interface ClosureFields {
  readonly spec: JsonObject;
  readonly tasks: JsonObject;
  readonly subWorkflows: JsonObject;
  /** Default of nodes that do not say it themselves. */
  readonly interruptible: boolean;
}

/** @throws WorkflowBuildError when the closure is not a whole, compiled one. */
export function buildClosure(
  { primary, subWorkflows, tasks }: CompiledWorkflowClosure,
  platform: PlatformResources,
  bindings: BindingForm = "json",
): ClosureFields {
  if (primary === undefined) throw new WorkflowBuildError("closure", "holds no primary workflow");
  const templates = new Map<string, TaskTemplate>();
  for (const { template } of tasks) {
    if (template?.id === undefined) throw new WorkflowBuildError("closure", "holds a task without an id");
    templates.set(identifierKey(template.id), template);
  }
  const byKey: JsonObject = {};
  for (const workflow of subWorkflows) {
    const id = workflow.template?.id;
    if (id === undefined) throw new WorkflowBuildError("closure", "holds a sub-workflow without an id");
    byKey[identifierKey(id)] = buildGraph(workflow, templates, bindings);
  }
  return {
    spec: buildGraph(primary, templates, bindings),
    tasks: Object.fromEntries([...templates].map(([key, template]) => [key, taskJson(withResources(template, platform))])),
    subWorkflows: byKey,
    interruptible: primary.template?.metadataDefaults?.interruptible ?? false,
  };
}

function taskJson(template: TaskTemplate): JsonObject {
  return protoJson(
    TaskTemplateSchema,
    template.interface === undefined ? template : { ...template, interface: stripInterface(template.interface) },
  );
}
