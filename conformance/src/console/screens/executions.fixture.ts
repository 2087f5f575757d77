import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { WorkflowMetadata_OnFailurePolicy } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { FlyteClient } from "@flyte-ts/client";
import { waitForEnd } from "../../stack/executions.js";
import { registerMapTask } from "../../stack/map-task.js";
import { registerShellWorkflow, type ShellNode, TARGET } from "../../stack/shell-tasks.js";
import { registerTypedWorkflow } from "../fixtures/launch-workflows.fixture.js";
import { EXECUTIONS, WORKFLOWS } from "./pages.fixture.js";

const TRAIN: readonly ShellNode[] = [
  { id: "load", script: "echo 4 shards loaded", after: [] },
  { id: "clean", script: "sleep 0.4", after: ["load"] },
  { id: "train", script: "for n in $(seq 12); do echo epoch $n of 12; sleep 0.05; done", after: ["load"] },
  { id: "report", script: "exit 0", after: ["clean", "train"] },
];
const BROKEN = [1, 2, 3].map(
  (shard): ShellNode => ({
    id: `shard${shard}`,
    script: `echo reading shard ${shard}; echo shard ${shard} is empty >&2; exit 3`,
    after: [],
  }),
);
const ITEMS = 60;
const END_MS = 120_000;

/** Fills the project of the recording, and waits until all executions have ended. */
export async function fillProject(client: FlyteClient): Promise<void> {
  const { admin } = client;
  const start = async (name: string, launchPlan: Identifier): Promise<void> => {
    await admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} }, inputs: {} });
    await waitForEnd(client, { ...TARGET, name }, END_MS);
  };
  await registerTypedWorkflow(client, WORKFLOWS.typed);
  await start(EXECUTIONS.trained, await registerShellWorkflow(client, WORKFLOWS.train, TRAIN));
  const policy = WorkflowMetadata_OnFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE;
  await start(EXECUTIONS.failed, await registerShellWorkflow(client, WORKFLOWS.broken, BROKEN, policy));
  const container = { image: "shell:1", command: ["sh", "-c"], args: ["echo region {{.inputs.a}}"] };
  await start(EXECUTIONS.mapped, await registerMapTask(client, { name: WORKFLOWS.score, size: ITEMS, container }));
  const workflowId = { ...TARGET, resourceType: ResourceType.WORKFLOW, name: WORKFLOWS.train };
  const id = { ...TARGET, resourceType: ResourceType.LAUNCH_PLAN, name: "pipelines.nightly" };
  const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "0 3 * * *" } } };
  await admin.createLaunchPlan({ id, spec: { workflowId, entityMetadata: { schedule } } });
  await admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE });
}
