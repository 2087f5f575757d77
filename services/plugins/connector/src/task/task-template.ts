import { toBinary } from "@bufbuild/protobuf";
import { renderTemplate, type TemplateContext, TemplateError, usesTaskTemplatePath } from "@flyte-ts/domain/template";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import type { DataStore } from "../result/read-result.js";
import { podArguments, renderPod } from "./pod-target.js";

/**
 * Returns the template that a connector gets: placeholders in the arguments of containers are
 * replaced; commands and SQL stay as they are, since connectors bind inputs themselves.
 *
 * @throws PermanentFailure for a placeholder without a value; BlobUnavailableError
 */
export async function taskTemplate(request: TaskRequest, inputs: LiteralMap, store: DataStore): Promise<TaskTemplate> {
  const template = request.template as TaskTemplate;
  const { target } = template;
  switch (target.case) {
    case "container": {
      const context = await renderContext(request, inputs, { store, texts: target.value.args });
      return { ...template, target: { case: "container", value: { ...target.value, args: render(target.value.args, context) } } };
    }
    case "k8sPod": {
      const context = await renderContext(request, inputs, { store, texts: podArguments(target.value) });
      return { ...template, target: { case: "k8sPod", value: renderPod(target.value, (args) => render(args, context)) } };
    }
    case "sql":
    case undefined:
      return template;
  }
}

async function renderContext(
  request: TaskRequest,
  inputs: LiteralMap,
  { store, texts }: { readonly store: DataStore; readonly texts: readonly string[] },
): Promise<TemplateContext> {
  const inputPrefix = request.inputUri.slice(0, Math.max(0, request.inputUri.lastIndexOf("/")));
  return {
    inputPath: request.inputUri,
    inputPrefix,
    outputPrefix: request.outputPrefix,
    rawOutputPrefix: request.rawOutputPrefix,
    checkpointPrefix: `${request.rawOutputPrefix}/_flytecheckpoints`,
    previousCheckpointPrefix: request.previousCheckpointUri,
    uniqueId: request.generatedName,
    namespace: request.namespace,
    taskTemplatePath: usesTaskTemplatePath(texts) ? await writeTemplate(request, `${inputPrefix}/task.pb`, store) : undefined,
    inputs,
  };
}

async function writeTemplate({ template }: TaskRequest, uri: string, store: DataStore): Promise<string> {
  await store.put(uri, toBinary(TaskTemplateSchema, template as TaskTemplate));
  return uri;
}

function render(texts: readonly string[], context: TemplateContext): string[] {
  try {
    return [...renderTemplate(texts, context)];
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new PermanentFailure({ code: "BadTaskSpecification", message: error.message });
  }
}
