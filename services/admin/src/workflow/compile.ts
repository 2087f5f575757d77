import { compileWorkflow, formatCompileErrors, type LaunchPlanInterface, requirementsOf } from "@flyte-ts/compiler";
import { create } from "@bufbuild/protobuf";
import type { CompiledTask, CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ParameterMapSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { identifierText } from "../identifier/check.js";
import { invalidArgument } from "../invalid.js";
import { findLaunchPlan } from "../launch-plan/find.js";
import { findTask } from "../task/find.js";

export interface WorkflowDefinition {
  readonly id: Identifier;
  readonly template: WorkflowTemplate;
  readonly subWorkflows: readonly WorkflowTemplate[];
}

/**
 * Compiles a workflow against the tasks and launch plans that are registered.
 *
 * @throws RpcError INVALID_ARGUMENT listing every compile error, or naming a task or
 *   launch plan that is not registered.
 */
export async function compileStoredWorkflow(
  db: Queryable,
  { id, template, subWorkflows }: WorkflowDefinition,
): Promise<CompiledWorkflowClosure> {
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
    const { spec, closure } = found.launchPlan;
    launchPlans.push({
      id: launchPlanId,
      expectedInputs: closure?.expectedInputs ?? create(ParameterMapSchema),
      fixedInputs: spec?.fixedInputs ?? create(LiteralMapSchema),
      expectedOutputs: closure?.expectedOutputs ?? create(VariableMapSchema),
    });
  }
  const compilation = compileWorkflow({ template, subWorkflows, tasks, launchPlans, wrapOriginalInterfaces: true });
  if (!compilation.ok) throw failed(formatCompileErrors(compilation.errors));
  return compilation.closure;
}
