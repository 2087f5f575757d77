import { fromBinary } from "@bufbuild/protobuf";
import { Code, type FlyteClient, RpcError } from "@flyte-ts/client";
import { LaunchPlanSpecSchema, LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { TaskSpecSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { WorkflowSpecSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { EncodedDescription } from "@flyte-ts/runtime/describe";
import type { Project } from "../project/project.js";
import { creationWaves, type PlanToCreate, type WorkflowToCreate } from "./creation-order.js";
import { refusal } from "./server.js";

/** Entity as the command lists it. */
export interface CreatedEntity {
  readonly kind: "task" | "workflow" | "launch plan";
  readonly name: string;
  /** False: the server had it already, with the same content. */
  readonly isNew: boolean;
}

/** Requests in flight at a time. */
const CONCURRENCY = 16;

export interface Creation {
  readonly project: Project;
  readonly version: string;
  readonly description: EncodedDescription;
  /** Activate the launch plans that ask for it. */
  readonly activate: boolean;
}

/** Creates tasks, then workflows and launch plans in the order in which they need one another. */
export async function createEntities(
  client: FlyteClient,
  { project: scope, version, description, activate }: Creation,
): Promise<CreatedEntity[]> {
  const { admin } = client;
  const { project, domain } = scope;
  const idOf = (resourceType: ResourceType, name: string) => ({ resourceType, project, domain, name, version });
  const entities = await inParallel(description.tasks, async (encoded) => {
    const spec = fromBinary(TaskSpecSchema, bytesOf(encoded));
    const name = spec.template?.id?.name ?? "";
    return created("task", name, () => admin.createTask({ id: idOf(ResourceType.TASK, name), spec }));
  });
  const createWorkflow = ({ name, spec }: WorkflowToCreate) =>
    created("workflow", name, () => admin.createWorkflow({ id: idOf(ResourceType.WORKFLOW, name), spec }));
  const createPlan = async ({ name, spec, active }: PlanToCreate) => {
    const id = idOf(ResourceType.LAUNCH_PLAN, name);
    const plan = await created("launch plan", name, () => admin.createLaunchPlan({ id, spec }));
    if (active && activate) await admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE });
    return plan;
  };
  const workflows = description.workflows.map((encoded) => {
    const spec = fromBinary(WorkflowSpecSchema, bytesOf(encoded));
    return { name: spec.template?.id?.name ?? "", spec };
  });
  const plans = description.launchPlans.map((plan) => ({ ...plan, spec: fromBinary(LaunchPlanSpecSchema, bytesOf(plan.spec)) }));
  for (const wave of creationWaves(workflows, plans, version)) {
    entities.push(...(await inParallel(wave.workflows, createWorkflow)));
    entities.push(...(await inParallel(wave.plans, createPlan)));
  }
  return entities;
}

async function created(kind: CreatedEntity["kind"], name: string, create: () => Promise<unknown>): Promise<CreatedEntity> {
  try {
    await create();
    return { kind, name, isNew: true };
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.ALREADY_EXISTS) return { kind, name, isNew: false };
    throw refusal(`the ${kind} ${name}`, error);
  }
}

async function inParallel<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
  return results;
}

const bytesOf = (encoded: string): Uint8Array => Buffer.from(encoded, "base64");
