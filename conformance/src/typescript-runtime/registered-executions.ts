import { setTimeout as sleep } from "node:timers/promises";
import { create, type JsonValue } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { literalFromJson } from "@flyte-ts/domain/literal";
import { ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Signal } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import type { TaskExecution, TaskExecutionClosure } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { ExecutionError } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type ExecutionName, waitForEnd } from "../stack/executions.js";

const SCOPE = { project: "flytesnacks", domain: "development" };
/** Time for an execution on a busy machine, ms. */
const TIMEOUT_MS = 300_000;

export interface EndedExecution {
  readonly id: ExecutionName;
  readonly phase: string;
  /** Message of the execution's error; empty when there is none. */
  readonly error: string;
  /** Attempts of all nodes. */
  readonly attempts: readonly TaskExecution[];
  /** Use of the cache by each node that runs a task, by its id. */
  readonly cache: Readonly<Record<string, string>>;
}

export interface Start {
  readonly name: string;
  readonly version: string;
  /** Default: a task. */
  readonly kind?: ResourceType;
  readonly inputs?: LiteralMap;
}

/** Starts a registered task or launch plan. */
export async function start(client: FlyteClient, { name, version, kind = ResourceType.TASK, inputs }: Start): Promise<ExecutionName> {
  const launchPlan = { resourceType: kind, ...SCOPE, name, version };
  const spec = { launchPlan, metadata: { mode: ExecutionMetadata_ExecutionMode.MANUAL } };
  const created = await client.admin.createExecution({ ...SCOPE, spec, ...(inputs && { inputs }) });
  return { ...SCOPE, name: created.id?.name ?? "" };
}

/** Time in which a gate asks, ms. */
const GATE_TIMEOUT_MS = 120_000;

/** Answers the gates of an execution once they ask, in the order of the answers. */
export async function answerGates(client: FlyteClient, id: ExecutionName, answers: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [signalId, answer] of Object.entries(answers)) {
    const asked = await findSignal(client, id, signalId);
    const value = literalFromJson(answer as JsonValue, asked.type ?? create(LiteralTypeSchema));
    await client.signals.setSignal({ id: { executionId: id, signalId }, value });
  }
}

async function findSignal(client: FlyteClient, id: ExecutionName, signalId: string): Promise<Signal> {
  for (const deadline = Date.now() + GATE_TIMEOUT_MS; Date.now() < deadline; await sleep(100)) {
    const { signals } = await client.signals.listSignals({ workflowExecutionId: id, limit: 10 });
    const asked = signals.find((signal) => signal.id?.signalId === signalId);
    if (asked !== undefined) return asked;
  }
  throw new Error(`${id.name} does not ask for ${signalId}`);
}

/** Runs a registered task or launch plan to its end. */
export async function runToEnd(client: FlyteClient, execution: Start): Promise<EndedExecution> {
  return waitFor(client, await start(client, execution));
}

/** Waits for the end of an execution. */
export async function waitFor(client: FlyteClient, id: ExecutionName): Promise<EndedExecution> {
  const { closure } = await waitForEnd(client, id, TIMEOUT_MS);
  const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 });
  const attempts: TaskExecution[] = [];
  const cache: Record<string, string> = {};
  for (const node of nodeExecutions) {
    if (node.id === undefined) continue;
    const target = node.closure?.targetMetadata;
    if (target?.case === "taskNodeMetadata") cache[node.id.nodeId] = CatalogCacheStatus[target.value.cacheStatus] ?? "";
    attempts.push(...(await client.admin.listTaskExecutions({ nodeExecutionId: node.id, limit: 20 })).taskExecutions);
  }
  const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
  return { id, error, phase: WorkflowExecution_Phase[closure?.phase ?? 0] ?? "", attempts: attempts.toSorted(byAttempt), cache };
}

const byAttempt = (a: TaskExecution, b: TaskExecution): number => (a.id?.retryAttempt ?? 0) - (b.id?.retryAttempt ?? 0);

/** Returns the error of an attempt, as GetTaskExecution shows it. */
export async function errorOf(client: FlyteClient, attempt: TaskExecution | undefined): Promise<ExecutionError> {
  if (attempt?.id === undefined) throw new Error("there was no attempt");
  const { closure } = await client.admin.getTaskExecution({ id: attempt.id });
  const result: TaskExecutionClosure["outputResult"] | undefined = closure?.outputResult;
  if (result?.case !== "error") throw new Error(`the attempt has no error but ${result?.case ?? "nothing"}`);
  return result.value;
}
