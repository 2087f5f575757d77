import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

const ENDED = new Set([
  WorkflowExecution_Phase.SUCCEEDED,
  WorkflowExecution_Phase.FAILED,
  WorkflowExecution_Phase.ABORTED,
  WorkflowExecution_Phase.TIMED_OUT,
]);

export interface ExecutionName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/** Polls until the execution has ended, and tolerates outages of admin. */
export async function waitForEnd(client: FlyteClient, id: ExecutionName, timeoutMs: number): Promise<Execution> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const execution = await client.admin.getExecution({ id }).catch(() => undefined);
    if (execution !== undefined && ENDED.has(execution.closure?.phase ?? 0)) return execution;
    if (Date.now() > deadline) throw new Error(`${id.name} did not end: ${WorkflowExecution_Phase[execution?.closure?.phase ?? 0]}`);
    await sleep(100);
  }
}

/** Retries an idempotent call while admin is unavailable. */
export async function retryWhileUnavailable<T>(call: () => Promise<T>, timeoutMs = 60_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

/**
 * Nodes named n and a number, and their attempts, as sorted lines `node phase` and `node attempt
 * phase`.
 */
export async function nodeAndAttemptPhases(client: FlyteClient, id: ExecutionName): Promise<string[]> {
  const { nodeExecutions } = await retryWhileUnavailable(() => client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }));
  const own = nodeExecutions.filter((node) => /^n\d+$/.test(node.id?.nodeId ?? ""));
  const phases = own.map((node) => `${node.id?.nodeId} ${NodeExecution_Phase[node.closure?.phase ?? 0]}`);
  for (const node of own) {
    const { taskExecutions } = await retryWhileUnavailable(() => client.admin.listTaskExecutions({ nodeExecutionId: node.id!, limit: 10 }));
    for (const task of taskExecutions)
      phases.push(`${node.id?.nodeId} ${task.id?.retryAttempt} ${TaskExecution_Phase[task.closure?.phase ?? 0]}`);
  }
  return phases.sort();
}
