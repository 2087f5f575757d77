import { create } from "@bufbuild/protobuf";
import { isQuantity } from "@flyte-ts/domain/quantity";
import { exceedsDepth } from "@flyte-ts/domain/type";
import { type CompiledTask, CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import {
  type Container,
  type Resources_ResourceEntry,
  Resources_ResourceName,
  type TaskTemplate,
} from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { ErrorCollector } from "../error/collector.js";
import type { CompileErrors } from "../error/compile-error.js";
import { invalidValue, unrecognizedValue, valueRequired } from "../error/errors.js";
import { MAX_OBJECT_NESTING, nestingTooDeep } from "../nesting.js";
import { validatePodSpec } from "./validate-pod-spec.js";

export type TaskCompilation =
  | { readonly ok: true; readonly compiled: CompiledTask }
  | { readonly ok: false; readonly errors: CompileErrors };

/**
 * Checks a task template on its own. A container needs an image and valid Kubernetes quantities,
 * and a command or arguments when the task has inputs or outputs; a pod template's containers need
 * valid names. Other tasks are checked by their plugins.
 */
export function compileTask(template: TaskTemplate): TaskCompilation {
  const errors = new ErrorCollector();
  if (exceedsDepth(template, MAX_OBJECT_NESTING)) errors.add(nestingTooDeep());
  else checkTask(template, errors);
  if (errors.count > 0) return { ok: false, errors: errors.list() };
  return { ok: true, compiled: create(CompiledTaskSchema, { template }) };
}

function checkTask(template: TaskTemplate, errors: ErrorCollector): void {
  if (template.id === undefined) errors.add(valueRequired("root", "Id"));
  if (template.target.case === "container") checkContainer(template, template.target.value, errors);
  if (template.target.case === "k8sPod") {
    for (const { field, rule } of validatePodSpec(template.target.value.podSpec))
      errors.add(invalidValue("root", `k8s_pod.${field}`, rule));
  }
}

function checkContainer(template: TaskTemplate, container: Container, errors: ErrorCollector): void {
  const variables = [template.interface?.inputs, template.interface?.outputs].flatMap((map) => Object.keys(map?.variables ?? {}));
  if (variables.length > 0 && container.command.length === 0 && container.args.length === 0) {
    errors.add(valueRequired("container", "command"));
  }
  if (container.image === "") errors.add(valueRequired("container", "image"));
  checkQuantities(container.resources?.requests ?? [], errors);
  checkQuantities(container.resources?.limits ?? [], errors);
}

function checkQuantities(entries: readonly Resources_ResourceEntry[], errors: ErrorCollector): void {
  for (const { name, value } of entries) {
    if (isQuantity(value)) continue;
    const resource = `resources.${Resources_ResourceName[name] ?? name}`;
    errors.add(unrecognizedValue(resource, value, "is not a quantity as Kubernetes writes it, such as 500m or 2Gi"));
  }
}
