import type { TemplateContext } from "@flyte-ts/domain/template";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

export interface TemplateContextOptions {
  /** Inputs of the attempt. Default: those that the request has by value. */
  readonly inputs?: LiteralMap | undefined;
  /** URI of task.pb, when a text needs it. */
  readonly taskTemplatePath?: string | undefined;
}

/** Values of the templates in commands and queries of an attempt. */
export function templateContext(
  request: TaskRequest,
  { inputs = request.inputs, taskTemplatePath }: TemplateContextOptions = {},
): TemplateContext {
  return {
    inputPath: request.inputUri,
    inputPrefix: folderOf(request.inputUri),
    outputPrefix: request.outputPrefix,
    rawOutputPrefix: request.rawOutputPrefix,
    checkpointPrefix: `${request.rawOutputPrefix}/_flytecheckpoints`,
    previousCheckpointPrefix: request.previousCheckpointUri,
    uniqueId: request.generatedName,
    namespace: request.namespace,
    taskTemplatePath,
    inputs,
  };
}

/** URI of the folder of a file; empty for a URI without one. */
export function folderOf(uri: string): string {
  return uri.slice(0, Math.max(0, uri.lastIndexOf("/")));
}
