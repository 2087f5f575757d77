import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { create } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { decodeOutputs, definitionOf, encodeInputs, LocalFileStore } from "@flyte-ts/sdk/runtime";
import { root } from "../repository.js";
import { type ExecutionName, waitForEnd } from "../stack/executions.js";
import { answerGates, start } from "./registered-executions.js";

/** Time for an execution, ms. */
const TIMEOUT_MS = 120_000;

/** A run of a workflow of echo tasks. */
export interface EchoCase {
  /** Name in the module `echoes` of the project of the tests. */
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Outputs of a run that succeeds. */
  readonly outputs?: unknown;
  /** Part of the error of a run that fails. */
  readonly error?: string;
  /** Answers of gates, in the order in which they are asked. */
  readonly signals?: Readonly<Record<string, unknown>>;
}

const shape = {
  name: "line",
  points: [
    { x: 0.5, y: 1 },
    { x: 2, y: 3 },
  ],
  tags: { colour: "red" },
  note: null,
};
const at = new Date("2026-01-02T03:04:05.678Z");

export const ECHO_CASES: readonly EchoCase[] = [
  { name: "values", inputs: { shape, at }, outputs: { y: 3, colour: "red", all: [0.5, 3, 7], one: 3, at } },
  { name: "branches", inputs: { x: 20, mode: "auto" }, outputs: 20 },
  { name: "branches", inputs: { x: 20, mode: "off" }, outputs: 0 },
  { name: "branches", inputs: { x: -20, mode: "auto" }, outputs: -1 },
  { name: "branches", inputs: { x: 5, mode: "auto" }, error: "x is out of range" },
  { name: "order", inputs: {}, outputs: "last" },
  { name: "nested", inputs: {}, outputs: { x: 2, label: "of the call", planned: "of the plan" } },
  { name: "gates", inputs: {}, outputs: 5, signals: { factor: 5, release: true } },
  { name: "failing", inputs: { x: 1 }, outputs: 1 },
  { name: "failing", inputs: { x: -1 }, error: "x must be positive" },
];

/** An execution that has ended, as the API shows it. */
export interface EchoRun {
  readonly phase: string;
  readonly error: string;
  readonly outputs?: unknown;
  /** Phases of the nodes of the workflow, by their ids. */
  readonly nodes: Readonly<Record<string, string>>;
}

/**
 * Runs a case on a server on which the project is registered.
 *
 * @param folder folder for files of values
 */
export async function runEchoCase(
  client: FlyteClient,
  { version, folder }: { readonly version: string; readonly folder: string },
  { name, inputs, signals = {} }: EchoCase,
): Promise<EchoRun> {
  const entities = (await import(pathToFileURL(join(root, "conformance", "typescript", "src", "flows", "echoes.ts")).href)) as Readonly<
    Record<string, Parameters<typeof definitionOf>[0]>
  >;
  const definition = definitionOf(entities[name] as Parameters<typeof definitionOf>[0]);
  const files = new LocalFileStore(folder);
  const encoded = await encodeInputs(definition, inputs, files);
  const id = await start(client, { name: `echoes.${name}`, version, kind: ResourceType.LAUNCH_PLAN, inputs: encoded });
  await answerGates(client, id, signals);
  const { closure } = await waitForEnd(client, id, TIMEOUT_MS);
  const { fullOutputs } = await client.admin.getExecutionData({ id });
  const phase = WorkflowExecution_Phase[closure?.phase ?? 0] ?? "";
  const outputs = phase === "SUCCEEDED" ? await decodeOutputs(definition, fullOutputs ?? create(LiteralMapSchema), files) : undefined;
  const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
  return { phase, error, outputs, nodes: await nodesOf(client, id) };
}

async function nodesOf(client: FlyteClient, id: ExecutionName): Promise<Readonly<Record<string, string>>> {
  const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 });
  const phases = nodeExecutions.map((node) => [node.id?.nodeId ?? "", NodeExecution_Phase[node.closure?.phase ?? 0] ?? ""] as const);
  return Object.fromEntries(phases.toSorted(([a], [b]) => a.localeCompare(b)));
}
