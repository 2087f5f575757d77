import { exceedsDepth } from "@flyte-ts/domain/type";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { ErrorCollector } from "../error/collector.js";
import type { CompileErrors } from "../error/compile-error.js";
import { MAX_OBJECT_NESTING, nestingTooDeep } from "../nesting.js";
import { compareIdentifiers, keyOf } from "./identifier.js";
import type { Reference } from "./references.js";
import { indexSubWorkflows, reachableFrom } from "./sub-workflows.js";

/**
 * Definitions to load before a workflow can be compiled; both lists are sorted and without
 * duplicates.
 */
export interface CompileDependencies {
  readonly tasks: readonly Identifier[];
  readonly launchPlans: readonly Identifier[];
  /**
   * Errors of the set of sub-workflows (for example two with one id); then both lists are empty.
   * Else empty.
   */
  readonly errors: CompileErrors;
}

/**
 * Lists the tasks and launch plans that a workflow and its used sub-workflows reference.
 * `compileWorkflow` reports missing sub-workflows.
 */
export function compileDependencies(template: WorkflowTemplate, subWorkflows: readonly WorkflowTemplate[]): CompileDependencies {
  const errors = new ErrorCollector();
  if (exceedsDepth([template, subWorkflows], MAX_OBJECT_NESTING)) errors.add(nestingTooDeep());
  const index = errors.count === 0 ? indexSubWorkflows(subWorkflows, errors) : new Map<string, WorkflowTemplate>();
  if (errors.count > 0) return { tasks: [], launchPlans: [], errors: errors.list() };
  const { references } = reachableFrom(template, index, new ErrorCollector());
  return { tasks: idsOf(references, "task"), launchPlans: idsOf(references, "launchPlan"), errors: [] };
}

/** Ids of one kind of reference, sorted, without duplicates. */
export function idsOf(references: readonly Reference[], kind: Reference["kind"]): readonly Identifier[] {
  const byKey = new Map(references.filter((reference) => reference.kind === kind).map(({ id }) => [keyOf(id), id]));
  return [...byKey.values()].sort(compareIdentifiers);
}
