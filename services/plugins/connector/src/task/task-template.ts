import { renderTemplate, type TemplateContext, TemplateError, usesTaskTemplatePath } from "@flyte-ts/domain/template";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { PermanentFailure, templateContext } from "@flyte-ts/task-plugin";
import { writeTaskTemplate } from "@flyte-ts/task-plugin/files";
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
  const taskTemplatePath = usesTaskTemplatePath(texts) ? await writeTaskTemplate(request, store) : undefined;
  return templateContext(request, { inputs, taskTemplatePath });
}

function render(texts: readonly string[], context: TemplateContext): string[] {
  try {
    return [...renderTemplate(texts, context)];
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new PermanentFailure({ code: "BadTaskSpecification", message: error.message });
  }
}
