import { renderText, TemplateError, type TemplateContext } from "@flyte-ts/domain/template";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badTask } from "./bad-task.js";

/** Returns a function that replaces the templates in a text. It throws PermanentFailure. */
export function templateRenderer(request: TaskRequest, inputs: LiteralMap): (text: string) => string {
  const context = templateContext(request, inputs);
  return (text) => {
    try {
      return renderText(text, context);
    } catch (error) {
      if (error instanceof TemplateError) throw badTask(error.message);
      throw error;
    }
  };
}

function templateContext(request: TaskRequest, inputs: LiteralMap): TemplateContext {
  const { inputUri, outputPrefix, rawOutputPrefix, previousCheckpointUri, generatedName, namespace } = request;
  return {
    inputPath: inputUri,
    inputPrefix: inputUri.slice(0, Math.max(0, inputUri.lastIndexOf("/"))),
    outputPrefix,
    rawOutputPrefix,
    checkpointPrefix: `${rawOutputPrefix}/_flytecheckpoints`,
    previousCheckpointPrefix: previousCheckpointUri,
    uniqueId: generatedName,
    namespace,
    inputs,
  };
}
