import { renderText, TemplateError } from "@flyte-ts/domain/template";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { templateContext } from "@flyte-ts/task-plugin";
import { badTask } from "./bad-task.js";

/** Returns a function that replaces the templates in a text. It throws PermanentFailure. */
export function templateRenderer(request: TaskRequest, inputs: LiteralMap): (text: string) => string {
  const context = templateContext(request, { inputs });
  return (text) => {
    try {
      return renderText(text, context);
    } catch (error) {
      if (error instanceof TemplateError) throw badTask(error.message);
      throw error;
    }
  };
}
