import type { RegistryConfig } from "../config.js";
import { invalidArgument } from "../../platform/index.js";

/**
 * Checks that tasks of a type may be registered in a project and domain. A type that is not in the
 * list may be registered everywhere (Flyte 1.16, `task_type_whitelist`).
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export function checkTaskType(
  taskType: string,
  { project, domain }: { readonly project: string; readonly domain: string },
  { registration }: Pick<RegistryConfig, "registration">,
): void {
  const { taskTypeWhitelist } = registration;
  const scopes = Object.hasOwn(taskTypeWhitelist, taskType) ? taskTypeWhitelist[taskType] : undefined;
  if (scopes === undefined) return;
  const named = (required: string, given: string): boolean => required === "" || required === given;
  if (scopes.some((scope) => named(scope.project, project) && named(scope.domain, domain))) return;
  throw invalidArgument(`task type must be whitelisted before use: [${taskType}] is not for project [${project}] and domain [${domain}]`);
}
