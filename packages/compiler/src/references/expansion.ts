import { type Expansion, expansionOf, type GraphUse } from "@flyte-ts/domain/graph";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { keyOf } from "./identifier.js";
import { nodesOf } from "./nodes.js";

/**
 * Computes the number of node instances of a compiled workflow. All arms of a branch count, and the
 * node of an array node counts once: only a run determines the arm and the number of items. Launch
 * plans that nodes start are executions of their own.
 *
 * @throws ExpansionError when a sub-workflow contains itself.
 */
export function closureExpansion({ primary, subWorkflows }: CompiledWorkflowClosure): Expansion {
  const templates = new Map<string, WorkflowTemplate>();
  for (const { template } of subWorkflows) if (template?.id !== undefined) templates.set(keyOf(template.id), template);
  const findGraphUse = (key: string) => {
    const template = templates.get(key);
    return template && graphUse(template);
  };
  return expansionOf(primary?.template === undefined ? { name: "", nodes: 0, subWorkflows: [] } : graphUse(primary.template), findGraphUse);
}

function graphUse(template: WorkflowTemplate): GraphUse {
  const subWorkflows: string[] = [];
  let nodes = 0;
  for (const { target } of nodesOf(template)) {
    nodes++;
    if (target.case !== "workflowNode") continue;
    const { reference } = target.value;
    if (reference.case === "subWorkflowRef") subWorkflows.push(keyOf(reference.value));
  }
  return { name: template.id?.name ?? "", nodes, subWorkflows };
}
