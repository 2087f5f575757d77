import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type BuildPodOptions, objectMeta, objectName, OPERATOR_JOB_LABEL } from "@flyte-ts/pod-task";
import { RolePodBuilder } from "../build/role-pod-builder.js";
import type { Job, Operator } from "../operator.js";

/** A resource to create. */
export interface NewJob extends Job {
  readonly spec: JsonObject;
}

/**
 * Builds the resource of an attempt. Pure: the same request gives the same resource.
 *
 * @throws InvalidPodSpecError, PermanentFailure, TemplateError, QuantityError: errors of the task.
 */
export function buildJob(operator: Operator, request: TaskRequest, options: BuildPodOptions): NewJob {
  const name = objectName(request.generatedName, operator.maxNameLength);
  const { spec, labels = {}, annotations = {} } = operator.build(request, new RolePodBuilder(request, options, name));
  const metadata = objectMeta(request, { labels, annotations }, options.config.metadata);
  return {
    apiVersion: operator.apiVersion,
    kind: operator.kind,
    metadata: { ...metadata, name, labels: { ...metadata.labels, [OPERATOR_JOB_LABEL]: name } },
    spec,
  };
}
