import { setTimeout as sleep } from "node:timers/promises";
import { toJson } from "@bufbuild/protobuf";
import { clientCredentials } from "@flyte-ts/auth";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { isReservedNode } from "@flyte-ts/domain/graph";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { clientSecretOf, FLYTEKIT_CLIENT_ID, type Progress, seconds, type Stack } from "@flyte-ts/local-stack";

const TERMINAL_PHASES = new Set([
  WorkflowExecution_Phase.SUCCEEDED,
  WorkflowExecution_Phase.FAILED,
  WorkflowExecution_Phase.ABORTED,
  WorkflowExecution_Phase.TIMED_OUT,
]);
/** A running pyflyte. */
interface Submission {
  readonly progress: Progress;
  readonly submitting: Promise<string>;
  /** Start time, ms. */
  readonly start: number;
}

const RUN_TIMEOUT_MS = 10 * 60_000;

/**
 * Follows the example that stock pyflyte registers and runs, and prints its outcome. Resolves to
 * true on success.
 *
 * @param submitting output of pyflyte
 */
export async function followExample(stack: Stack, { progress, submitting, start }: Submission): Promise<boolean> {
  const output = await submitting;
  const name = /executions\/([a-z0-9-]+)/.exec(output)?.[1];
  if (name === undefined) {
    progress.line(`pyflyte printed no execution:\n${output}`);
    return false;
  }
  const endpoint = `${stack.endpoints.host}:${stack.endpoints.api}`;
  const credentials = stack.signIn && { ...clientSecretOf(stack.signIn, FLYTEKIT_CLIENT_ID), scopes: ["all"] };
  const client = createFlyteClient({ endpoint, ...clientCredentials(endpoint, credentials, () => new Date()) });
  try {
    const id = { project: "flytesnacks", domain: "development", name };
    const execution = await waitForEnd(client, id, progress);
    await printNodes(client, id, progress);
    const succeeded = execution.closure?.phase === WorkflowExecution_Phase.SUCCEEDED;
    if (succeeded) {
      const data = await client.admin.getExecutionData({ id: execution.id });
      progress.line("\noutputs");
      for (const [variable, literal] of Object.entries(data.fullOutputs?.literals ?? {})) {
        const json = toJson(LiteralMapSchema, { $typeName: "flyteidl.core.LiteralMap", literals: { [variable]: literal } }) as {
          literals: Record<string, unknown>;
        };
        progress.line(`  ${variable} = ${JSON.stringify(readableValue(json.literals[variable]))}`);
      }
    } else {
      const result = execution.closure?.outputResult;
      if (result?.case === "error") progress.line(`\n${result.value.code}: ${result.value.message}`);
    }
    progress.line(
      `\ntraining_workflow ${WorkflowExecution_Phase[execution.closure?.phase ?? 0]} ${seconds(Date.now() - start)} after it was submitted (execution ${name})`,
    );
    return succeeded;
  } finally {
    client.close();
  }
}

async function waitForEnd(
  client: FlyteClient,
  id: Omit<WorkflowExecutionIdentifier, "$typeName" | "org">,
  progress: Progress,
): Promise<Execution> {
  const deadline = Date.now() + RUN_TIMEOUT_MS;
  let last: WorkflowExecution_Phase | undefined;
  for (;;) {
    const execution = await client.admin.getExecution({ id });
    const phase = execution.closure?.phase ?? WorkflowExecution_Phase.UNDEFINED;
    if (phase !== last) progress.line(`  ${id.name} ${WorkflowExecution_Phase[phase]}`);
    last = phase;
    if (TERMINAL_PHASES.has(phase) || Date.now() > deadline) return execution;
    await sleep(100);
  }
}

async function printNodes(
  client: FlyteClient,
  workflowExecutionId: Omit<WorkflowExecutionIdentifier, "$typeName" | "org">,
  progress: Progress,
): Promise<void> {
  const { nodeExecutions } = await client.admin.listNodeExecutions({
    workflowExecutionId,
    limit: 100,
    sortBy: { key: "created_at", direction: 1 },
  });
  const rows = nodeExecutions
    .filter(({ id }) => !isReservedNode(id?.nodeId ?? ""))
    .map((node) => [node.id?.nodeId ?? "", NodeExecution_Phase[node.closure?.phase ?? 0] ?? "", duration(node)]);
  progress.line("");
  for (const row of [["NODE", "PHASE", "DURATION"], ...rows])
    progress.line(`  ${(row[0] ?? "").padEnd(14)}${(row[1] ?? "").padEnd(12)}${row[2]}`);
}

function duration({ closure }: NodeExecution): string {
  if (closure?.duration === undefined) return "";
  return seconds(Number(closure.duration.seconds) * 1_000 + closure.duration.nanos / 1e6);
}

/** The value inside a literal's JSON, for people. */
function readableValue(literal: unknown): unknown {
  if (literal === null || typeof literal !== "object") return literal;
  const { scalar, map, collection } = literal as {
    scalar?: Record<string, unknown>;
    map?: { literals?: object };
    collection?: { literals?: unknown[] };
  };
  if (map !== undefined) return Object.fromEntries(Object.entries(map.literals ?? {}).map(([key, value]) => [key, readableValue(value)]));
  if (collection !== undefined) return (collection.literals ?? []).map(readableValue);
  const primitive = scalar?.primitive;
  if (primitive !== null && typeof primitive === "object") return Object.values(primitive)[0];
  return scalar ?? literal;
}
