import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { decodeOutputs, definitionOf, encodeInputs, LocalFileStore } from "@flyte-ts/sdk/runtime";
import { type ExecutionName, waitForEnd } from "../stack/executions.js";
import { answerGates, start } from "./registered-executions.js";

/** Time for an execution on a busy machine, ms. */
const TIMEOUT_MS = 300_000;

/** A run of an entity of a TypeScript project with its result. */
export interface RunCase {
  /** Module and export, as they are registered. */
  readonly name: string;
  readonly entity: Parameters<typeof definitionOf>[0];
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Outputs of a run that succeeds, without those that differ between runs. */
  readonly outputs?: unknown;
  /** Part of the error of a run that fails. */
  readonly error?: string;
  /** Answers of gates, in the order in which they are asked. */
  readonly signals?: Readonly<Record<string, unknown>>;
}

/** An execution that has ended, as the API shows it. */
export interface CaseRun {
  readonly phase: string;
  readonly error: string;
  /** Outputs that the case names. */
  readonly outputs?: unknown;
  /** Phases of the nodes of the workflow, by their ids. */
  readonly nodes: Readonly<Record<string, string>>;
}

/** Starts a case on a server on which its project is registered. */
export async function startCase(client: FlyteClient, { name, entity, inputs }: RunCase, version: string): Promise<ExecutionName> {
  const definition = definitionOf(entity);
  const encoded = await withFiles((files) => encodeInputs(definition, inputs, files));
  const kind = definition.kind === "task" ? ResourceType.TASK : ResourceType.LAUNCH_PLAN;
  return start(client, { name, version, kind, inputs: encoded });
}

/** Answers the gates of a case and waits for its end. */
export async function endOfCase(client: FlyteClient, id: ExecutionName, { entity, outputs, signals = {} }: RunCase): Promise<CaseRun> {
  await answerGates(client, id, signals);
  const { closure } = await waitForEnd(client, id, TIMEOUT_MS);
  const phase = WorkflowExecution_Phase[closure?.phase ?? 0] ?? "";
  const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
  const nodes = await nodesOf(client, id);
  if (phase !== "SUCCEEDED") return { phase, error, nodes };
  const { fullOutputs } = await client.admin.getExecutionData({ id });
  const decoded = await withFiles((files) => decodeOutputs(definitionOf(entity), fullOutputs ?? create(LiteralMapSchema), files));
  return { phase, error, outputs: namedBy(outputs, decoded), nodes };
}

async function withFiles<Result>(use: (files: LocalFileStore) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-values-"));
  try {
    return await use(new LocalFileStore(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;

/** Leaves out outputs that a case does not name. */
function namedBy(expected: unknown, outputs: unknown): unknown {
  if (!isRecord(expected) || !isRecord(outputs)) return outputs;
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => Object.hasOwn(expected, name)));
}

async function nodesOf(client: FlyteClient, id: ExecutionName): Promise<Readonly<Record<string, string>>> {
  const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 });
  const phases = nodeExecutions.map((node) => [node.id?.nodeId ?? "", NodeExecution_Phase[node.closure?.phase ?? 0] ?? ""] as const);
  return Object.fromEntries(phases.toSorted(([a], [b]) => a.localeCompare(b)));
}
