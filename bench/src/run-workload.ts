import { setTimeout as sleep } from "node:timers/promises";
import { Code, createFlyteClient, type FlyteClient, RpcError } from "@flyte-ts/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Execution, ExecutionCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { launchPlanId, type TaskKind, buildTask, type Topology, buildWorkflow, type Target } from "./workflows.js";

export interface Measurement {
  readonly topology: Topology;
  readonly taskKind: TaskKind;
  readonly size: number;
  /** Concurrent executions. */
  readonly executions: number;
  /** Time to compile and store the workflow, s; 0 when it was registered. */
  readonly registrationSeconds: number;
  /** Time from the first execution's creation to the last one's end by admin's timestamps, s. */
  readonly seconds: number;
  /** Median of the executions' durations as admin reports them, s. */
  readonly medianDurationSeconds: number;
  readonly failed: number;
}

export interface WorkloadOptions {
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  readonly topology: Topology;
  readonly size: number;
  readonly executions: number;
  readonly taskKind: TaskKind;
  /** Duration of a `core-sleep` task, s. */
  readonly sleepSeconds: number;
  readonly timeoutMs: number;
}

const ENDED = new Set([
  WorkflowExecution_Phase.SUCCEEDED,
  WorkflowExecution_Phase.FAILED,
  WorkflowExecution_Phase.ABORTED,
  WorkflowExecution_Phase.TIMED_OUT,
]);

/** Registers the workload, runs it, and reads its times from admin. */
export async function runWorkload(options: WorkloadOptions): Promise<Measurement> {
  const client = createFlyteClient({ endpoint: options.endpoint });
  try {
    await client.ready(10_000);
    const begun = performance.now();
    const launchPlan = await register(client, options);
    const registrationSeconds = Math.round(performance.now() - begun) / 1_000;
    const names = await Promise.all(Array.from({ length: options.executions }, () => launch(client, launchPlan, options)));
    // Read sequentially: hundreds of concurrent requests would load the stack.
    const ended: Execution[] = [];
    for (const name of names) ended.push(await waitForEnd(client, name, options));
    const started = ended.map(({ closure }) => milliseconds(closure?.createdAt));
    const durations = ended.map(({ closure }) => milliseconds(closure?.duration)).sort((a, b) => a - b);
    const last = ended.map(({ closure }) => milliseconds(closure?.updatedAt));
    return {
      topology: options.topology,
      taskKind: options.taskKind,
      size: options.size,
      executions: options.executions,
      registrationSeconds,
      seconds: (Math.max(...last) - Math.min(...started)) / 1_000,
      medianDurationSeconds: (durations[Math.floor(durations.length / 2)] ?? 0) / 1_000,
      failed: ended.filter(({ closure }) => closure?.phase !== WorkflowExecution_Phase.SUCCEEDED).length,
    };
  } finally {
    client.close();
  }
}

type Registered = Pick<WorkloadOptions, "project" | "domain" | "topology" | "size" | "taskKind">;

/** Registers the workflow unless it exists. */
export async function register(client: FlyteClient, { project, domain, topology, size, taskKind }: Registered): Promise<Identifier> {
  const target: Target = { project, domain, version: "bench-1" };
  const task = buildTask(target, taskKind, topology);
  const workflow = buildWorkflow(target, topology, { size, taskKind });
  const launchPlan = launchPlanId(workflow);
  await unlessExists(client.admin.createTask({ id: task.id, spec: { template: task } }));
  await unlessExists(client.admin.createWorkflow({ id: workflow.id, spec: { template: workflow } }));
  await unlessExists(client.admin.createLaunchPlan({ id: launchPlan, spec: { workflowId: workflow.id, entityMetadata: {} } }));
  return launchPlan;
}

async function unlessExists(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!(error instanceof RpcError && error.code === Code.ALREADY_EXISTS)) throw error;
  }
}

async function launch(client: FlyteClient, launchPlan: Identifier, options: WorkloadOptions): Promise<string> {
  const answer = await client.admin.createExecution(creationRequest(launchPlan, options));
  return answer.id?.name ?? "";
}

/** Request for one execution of a registered workflow. */
export function creationRequest(
  launchPlan: Identifier,
  { project, domain, taskKind, size, sleepSeconds }: Pick<WorkloadOptions, "project" | "domain" | "taskKind" | "size" | "sleepSeconds">,
): MessageInitShape<typeof ExecutionCreateRequestSchema> {
  const value =
    taskKind === "echo"
      ? ({ case: "integer", value: 1n } as const)
      : ({ case: "duration", value: { seconds: BigInt(Math.floor(sleepSeconds)), nanos: Math.round((sleepSeconds % 1) * 1e9) } } as const);
  const literal = { value: { case: "scalar" as const, value: { value: { case: "primitive" as const, value: { value } } } } };
  return {
    project,
    domain,
    spec: { launchPlan, metadata: { principal: "bench" }, maxParallelism: Math.max(size, 1) },
    inputs: { literals: { [taskKind === "echo" ? "a" : "duration"]: literal } },
  };
}

async function waitForEnd(client: FlyteClient, name: string, { project, domain, timeoutMs }: WorkloadOptions): Promise<Execution> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 20; ; pause = Math.min(pause * 1.2, 250)) {
    const execution = await client.admin.getExecution({ id: { project, domain, name } });
    if (ENDED.has(execution.closure?.phase ?? 0) || Date.now() > deadline) return execution;
    await sleep(pause);
  }
}

function milliseconds(time: { seconds: bigint; nanos: number } | undefined): number {
  return time === undefined ? 0 : Number(time.seconds) * 1_000 + time.nanos / 1e6;
}
