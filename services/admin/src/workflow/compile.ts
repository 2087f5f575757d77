import { formatCompileErrors, type LaunchPlanInterface, requirementsOf } from "@flyte-ts/compiler";
import type { CompiledTask } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { AdminDeps } from "../deps.js";
import { identifierText } from "../identifier/check.js";
import { invalidArgument } from "../invalid.js";
import { findLaunchPlan } from "../launch-plan/find.js";
import { findTask } from "../task/find.js";
import { type CompiledWorkflow, compileToBytes } from "./compiler/compile-to-bytes.js";
import { launchPlanInterface } from "./compiler/encoded-source.js";

export interface WorkflowDefinition {
  readonly id: Identifier;
  readonly template: WorkflowTemplate;
  readonly subWorkflows: readonly WorkflowTemplate[];
}

/** Workflows of so many nodes are compiled beside the main thread: they take a tenth of a second and more. */
const MANY_NODES = 5_000;

/**
 * Compiles a workflow against the tasks and launch plans that are registered.
 *
 * @throws RpcError INVALID_ARGUMENT listing every compile error, or naming a task or
 *   launch plan that is not registered.
 */
export async function compileStoredWorkflow(
  { db, compileThread }: Pick<AdminDeps, "db" | "compileThread">,
  { id, template, subWorkflows }: WorkflowDefinition,
): Promise<CompiledWorkflow> {
  const failed = (reason: string) => invalidArgument(`failed to compile workflow for [${identifierText(id)}] with err: ${reason}`);
  const required = requirementsOf(template, subWorkflows);
  if (required.errors.length > 0) throw failed(formatCompileErrors(required.errors));
  const missing = (what: Identifier) => failed(`missing entity of type ${identifierText(what)}`);
  const tasks: CompiledTask[] = [];
  for (const taskId of required.tasks) {
    const task = await findTask(db, taskId);
    if (task === undefined) throw missing(taskId);
    tasks.push(task.compiled);
  }
  const launchPlans: LaunchPlanInterface[] = [];
  for (const launchPlanId of required.launchPlans) {
    const found = await findLaunchPlan(db, launchPlanId);
    if (found === undefined) throw missing(launchPlanId);
    launchPlans.push({ ...launchPlanInterface(found.launchPlan), id: launchPlanId });
  }
  const source = { template, subWorkflows, tasks, launchPlans };
  const nodes = [template, ...subWorkflows].reduce((sum, each) => sum + each.nodes.length, 0);
  const beside = nodes >= MANY_NODES ? compileThread : undefined;
  const outcome = beside === undefined ? compileToBytes(source) : await beside.compile(source);
  if (!outcome.ok) throw failed(outcome.errors);
  return outcome.workflow;
}
