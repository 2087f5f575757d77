import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { ErrorCollector } from "../error/collector.js";
import { cycle, duplicateId, valueRequired, workflowNotFound } from "../error/errors.js";
import { identifierText, keyOf } from "./identifier.js";
import { type Reference, referencesOf } from "./references.js";

export type SubWorkflowIndex = ReadonlyMap<string, WorkflowTemplate>;

/** Indexes the sub-workflows by the key of their id. Duplicate or missing ids are errors. */
export function indexSubWorkflows(templates: readonly WorkflowTemplate[], errors: ErrorCollector): SubWorkflowIndex {
  const index = new Map<string, WorkflowTemplate>();
  for (const template of templates) {
    if (template.id === undefined) {
      errors.add(valueRequired("root", "sub_workflows.id"));
      continue;
    }
    const key = keyOf(template.id);
    if (index.has(key)) errors.add(duplicateId(identifierText(template.id)));
    else index.set(key, template);
  }
  return index;
}

export interface ReachableWorkflows {
  /** Keys of the used sub-workflows, each after those that it uses. */
  readonly order: readonly string[];
  /** References of the workflow and these sub-workflows. */
  readonly references: readonly Reference[];
}

interface Visit {
  readonly key: string | undefined;
  readonly name: string;
  readonly references: readonly Reference[];
  next: number;
}

/**
 * Follows the references from a workflow through its sub-workflows, each visited once. A missing
 * sub-workflow, or one that uses itself, is an error. Uses an explicit stack, since sub-workflows
 * may nest thousands of levels deep.
 */
export function reachableFrom(template: WorkflowTemplate, index: SubWorkflowIndex, errors: ErrorCollector): ReachableWorkflows {
  const order: string[] = [];
  const references: Reference[] = [];
  const started = new Set<string>();
  const done = new Set<string>();
  const path = [visit(template, undefined)];
  references.push(...(path[0] as Visit).references);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const reference = top.references[top.next++];
    if (reference === undefined) {
      path.pop();
      if (top.key === undefined) continue;
      done.add(top.key);
      order.push(top.key);
      continue;
    }
    if (reference.kind !== "subWorkflow") continue;
    const key = keyOf(reference.id);
    const used = index.get(key);
    if (used === undefined) {
      errors.add(workflowNotFound(reference.nodeId, identifierText(reference.id)));
    } else if (started.has(key)) {
      if (!done.has(key)) errors.add(cycle(reference.nodeId, cyclePath(path, key)));
    } else {
      started.add(key);
      const next = visit(used, key);
      for (const inner of next.references) references.push(inner);
      path.push(next);
    }
  }
  return { order, references };
}

function visit(template: WorkflowTemplate, key: string | undefined): Visit {
  return { key, name: template.id?.name ?? "", references: referencesOf(template), next: 0 };
}

/** Names of the sub-workflows of a cycle, from the repeated one back to it. */
function cyclePath(path: readonly Visit[], key: string): readonly string[] {
  const members = path.slice(path.findIndex((visited) => visited.key === key)).map(({ name }) => name);
  return [...members, members[0] ?? ""];
}
