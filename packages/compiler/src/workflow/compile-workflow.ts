import { create } from "@bufbuild/protobuf";
import { START_NODE } from "@flyte-ts/domain/graph";
import { exceedsDepth } from "@flyte-ts/domain/type";
import {
  type CompiledTask,
  CompiledTaskSchema,
  type CompiledWorkflow,
  CompiledWorkflowClosureSchema,
} from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { ErrorCollector } from "../error/collector.js";
import { taskNotFound, valueRequired, workflowNotFound } from "../error/errors.js";
import { MAX_OBJECT_NESTING, nestingTooDeep } from "../nesting.js";
import { InterfaceCache, type CompileContext } from "./builder.js";
import { compileTemplate } from "./compile-template.js";
import { identifierText, keyOf } from "../references/identifier.js";
import { idsOf } from "../references/dependencies.js";
import type { WorkflowCompilation, WorkflowSource } from "./source.js";
import { indexSubWorkflows, type ReachableWorkflows, reachableFrom, type SubWorkflowIndex } from "../references/sub-workflows.js";

/**
 * Checks a workflow with everything that it references and links its graph. Returns all errors at
 * once, but a missing reference ends the check early. The closure holds the used sub-workflows, in
 * the given order, and the used tasks, sorted. The arguments are not changed unless
 * `mutateTemplates` is set.
 */
export function compileWorkflow(source: WorkflowSource): WorkflowCompilation {
  const errors = new ErrorCollector();
  if (exceedsDepth(source, MAX_OBJECT_NESTING)) {
    errors.add(nestingTooDeep());
    return { ok: false, errors: errors.list() };
  }
  const tasks = indexTasks(source.tasks, errors);
  const subWorkflows = indexSubWorkflows(source.subWorkflows, errors);
  if (errors.count > 0) return { ok: false, errors: errors.list() };

  const launchPlans = new Map(source.launchPlans.map((launchPlan) => [keyOf(launchPlan.id), launchPlan]));
  const { liftArrayInterfaces = false, mutateTemplates = false } = source;
  const interfaces = new InterfaceCache();
  const inputs = { tasks, launchPlans, subWorkflows, liftArrayInterfaces, mutateTemplates };
  const context: CompileContext = { ...inputs, errors, interfaces };
  const reachable = reachableFrom(source.template, subWorkflows, errors);
  checkReferences(reachable, context);
  if (errors.count > 0) return { ok: false, errors: errors.list() };

  const compiled = new Map<string, CompiledWorkflow>();
  for (const key of reachable.order) {
    const template = subWorkflows.get(key);
    const result = template && compileTemplate(template, context);
    if (result !== undefined) compiled.set(key, result);
  }
  const primary = compileTemplate(source.template, context);
  if (errors.count > 0 || primary === undefined) return { ok: false, errors: errors.list() };
  const closure = create(CompiledWorkflowClosureSchema, {
    primary,
    subWorkflows: inInputOrder(subWorkflows, compiled),
    tasks: idsOf(reachable.references, "task").flatMap((id) => {
      const template = tasks.get(keyOf(id));
      return template === undefined ? [] : create(CompiledTaskSchema, { template: withBothVariableMaps(template) });
    }),
  });
  return { ok: true, closure };
}

/** The first of several tasks with one id counts. */
function indexTasks(tasks: readonly CompiledTask[], errors: ErrorCollector): ReadonlyMap<string, TaskTemplate> {
  const index = new Map<string, TaskTemplate>();
  for (const { template } of tasks) {
    if (template?.id === undefined) {
      errors.add(valueRequired("task", "Template.Id"));
      continue;
    }
    const key = keyOf(template.id);
    if (!index.has(key)) index.set(key, template);
  }
  return index;
}

function checkReferences({ references }: ReachableWorkflows, { tasks, launchPlans, errors }: CompileContext): void {
  for (const id of idsOf(references, "launchPlan")) {
    if (!launchPlans.has(keyOf(id))) errors.add(workflowNotFound(START_NODE, identifierText(id)));
  }
  for (const id of idsOf(references, "task")) {
    if (!tasks.has(keyOf(id))) errors.add(taskNotFound(START_NODE, identifierText(id)));
  }
}

function inInputOrder(index: SubWorkflowIndex, compiled: ReadonlyMap<string, CompiledWorkflow>): CompiledWorkflow[] {
  return [...index.keys()].flatMap((key) => compiled.get(key) ?? []);
}

/**
 * Completes an existing interface, so that it names inputs and outputs even when there are none.
 */
function withBothVariableMaps(template: TaskTemplate): TaskTemplate {
  const typed = template.interface;
  if (typed === undefined || (typed.inputs !== undefined && typed.outputs !== undefined)) return template;
  const inputs = typed.inputs ?? create(VariableMapSchema);
  const outputs = typed.outputs ?? create(VariableMapSchema);
  return { ...template, interface: { ...typed, inputs, outputs } };
}
