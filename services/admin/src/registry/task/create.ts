import { compileTask, formatCompileErrors } from "@flyte-ts/compiler";
import type { TaskCreateRequest } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { RegistryDeps } from "../deps.js";
import { checkDescription, storeDescription } from "../store/descriptions.js";
import {
  alreadyExists,
  checkIdentifier,
  checkName,
  checkText,
  digestOf,
  invalidArgument,
  missingArgument,
  structureDifference,
} from "../../platform/index.js";
import { ensureNamedEntity } from "../store/named-entities.js";
import { requireActiveProject } from "../project/require.js";
import { findTask, insertTask } from "../store/tasks.js";
import { podResources } from "./pod-resources.js";
import { checkResources, type ContainerResources, containerResources, platformResources } from "./resources.js";
import { checkTaskType } from "./whitelist.js";

type Deps = Pick<RegistryDeps, "db" | "config" | "clock">;

/**
 * Registers a version of a task.
 *
 * @throws RpcError INVALID_ARGUMENT naming the field, or when the version exists with
 *   different content; ALREADY_EXISTS when it exists with the same content.
 */
export async function createTask(deps: Deps, { id, spec }: TaskCreateRequest): Promise<void> {
  checkIdentifier(id, ResourceType.TASK);
  await requireActiveProject(deps, id.project, id.domain);
  if (spec?.template === undefined) throw missingArgument("spec");
  await checkTemplate(deps, id, spec.template);
  checkDescription(spec.description);
  const compilation = compileTask({ ...spec.template, id });
  if (!compilation.ok) throw invalidArgument(formatCompileErrors(compilation.errors));
  const { bytes, digest } = digestOf(CompiledTaskSchema, compilation.compiled);
  const now = deps.clock();
  const isNew = await deps.db.transaction(async (tx) => {
    const shortDescription = spec.description?.shortDescription ?? "";
    if (!(await insertTask(tx, { id, type: spec.template?.type ?? "", shortDescription, closure: bytes, digest, now }))) return false;
    await ensureNamedEntity(tx, id);
    await storeDescription(tx, { id, description: spec.description, now });
    return true;
  });
  if (isNew) return;
  const existing = await findTask(deps.db, id);
  if (existing === undefined) throw new Error("a task that existed a moment ago no longer exists");
  if (Buffer.from(existing.digest).equals(digest)) throw alreadyExists("task with identical structure already exists");
  throw invalidArgument(
    `${id.name} task with different structure already exists. (Please register a new version of the task):\n` +
      structureDifference(CompiledTaskSchema, existing.compiled, compilation.compiled),
  );
}

/** Validates the rules for tasks that need no compiler. */
async function checkTemplate(deps: Deps, id: Identifier, template: TaskTemplate): Promise<void> {
  checkName(template.type, "type");
  checkTaskType(template.type, id, deps.config);
  if (template.metadata === undefined) throw missingArgument("metadata");
  if (template.metadata.runtime !== undefined) checkText(template.metadata.runtime.version, "runtime version");
  if (template.interface === undefined) throw missingArgument("typed interface");
  const { target } = template;
  switch (target.case) {
    case "container":
      checkText(target.value.image, "image");
      await checkLimits(deps, id, [containerResources(target.value, id)]);
      return;
    case "k8sPod":
      if (target.value.podSpec === undefined) {
        throw invalidArgument("invalid TaskSpecification: a k8s_pod target must have a pod_spec");
      }
      await checkLimits(deps, id, podResources(target.value.podSpec));
      return;
    case "sql":
    case undefined:
      return;
    default:
      target satisfies never;
  }
}

async function checkLimits(deps: Deps, id: Identifier, containers: readonly ContainerResources[]): Promise<void> {
  const { limits } = await platformResources(deps, { project: id.project, domain: id.domain });
  for (const requested of containers) checkResources(requested, id, limits);
}
