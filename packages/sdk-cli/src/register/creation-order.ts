import type { LaunchPlanSpec } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { WorkflowSpec } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { ProjectError } from "../project/project-error.js";

export interface WorkflowToCreate {
  readonly name: string;
  readonly spec: WorkflowSpec;
}

export interface PlanToCreate {
  readonly name: string;
  readonly spec: LaunchPlanSpec;
  /** True when registration with `--activate` activates it. */
  readonly active: boolean;
}

/** Workflows that may be created now, and launch plans that may be created after them. */
export interface Wave {
  readonly workflows: readonly WorkflowToCreate[];
  readonly plans: readonly PlanToCreate[];
}

/**
 * Orders workflows and launch plans: a launch plan needs its workflow, and a workflow needs the
 * launch plans of this version that its nodes launch.
 *
 * @throws ProjectError when workflows launch one another.
 */
export function creationWaves(workflows: readonly WorkflowToCreate[], plans: readonly PlanToCreate[], version: string): Wave[] {
  const launched = new Map(workflows.map((workflow) => [workflow, launchedPlans(workflow.spec, version)]));
  const missing = { workflows: new Set(workflows), plans: new Set(plans) };
  const waves: Wave[] = [];
  while (missing.workflows.size + missing.plans.size > 0) {
    const missingPlans = new Set([...missing.plans].map(({ name }) => name));
    const ready = [...missing.workflows].filter((workflow) => !launched.get(workflow)?.some((name) => missingPlans.has(name)));
    for (const workflow of ready) missing.workflows.delete(workflow);
    const missingWorkflows = new Set([...missing.workflows].map(({ name }) => name));
    const readyPlans = [...missing.plans].filter(({ spec }) => !missingWorkflows.has(spec.workflowId?.name ?? ""));
    for (const plan of readyPlans) missing.plans.delete(plan);
    if (ready.length + readyPlans.length === 0)
      throw new ProjectError(`these workflows launch one another: ${[...missingWorkflows].join(", ")}`);
    waves.push({ workflows: ready, plans: readyPlans });
  }
  return waves;
}

/** Lists the launch plans of this version that nodes of a workflow launch. */
function launchedPlans({ template, subWorkflows }: WorkflowSpec, version: string): readonly string[] {
  return [template, ...subWorkflows]
    .flatMap((workflow) => [...(workflow?.nodes ?? []), ...(workflow?.failureNode === undefined ? [] : [workflow.failureNode])])
    .flatMap(allNodes)
    .flatMap(({ target }) => {
      const reference = target.case === "workflowNode" ? target.value.reference : undefined;
      return reference?.case === "launchplanRef" && reference.value.version === version ? reference.value.name : [];
    });
}

/** Returns a node, and those within its branches or items. */
function allNodes(node: Node): readonly Node[] {
  const { target } = node;
  if (target.case === "arrayNode") return target.value.node === undefined ? [node] : [node, ...allNodes(target.value.node)];
  if (target.case !== "branchNode") return [node];
  const { ifElse } = target.value;
  const inner = [ifElse?.case, ...(ifElse?.other ?? [])].flatMap((block) => block?.thenNode ?? []);
  if (ifElse?.default.case === "elseNode") inner.push(ifElse.default.value);
  return [node, ...inner.flatMap(allNodes)];
}
