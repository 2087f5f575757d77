import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { waitForEnd } from "../stack/executions.js";
import { plainLiteral } from "./plain-literal.js";
import { type RunningStack, runPython, startStack, WARM_PYTHON_DEFAULTS } from "../stack/stack-fixture.js";
import { root } from "../repository.js";

export const examplesFolder = join(root, "examples", "python");
export const scope = { project: "flytesnacks", domain: "development" };

/** An example that has ended. */
export interface EndedExample {
  /** Name of flyteidl.core.WorkflowExecution.Phase. */
  readonly phase: string;
  readonly execution: Execution;
  /**
   * Outputs as JavaScript values: primitives and lists of them. Other literals are represented by
   * the name of their kind.
   */
  readonly outputs: Record<string, unknown>;
  readonly error: { readonly code: string; readonly message: string };
}

export interface LaunchOptions {
  readonly overwriteCache?: boolean;
}

/** A stack on which unmodified pyflyte has registered all Python examples as version v1. */
export class ExampleRuns {
  /** Timeout of one execution, ms. */
  timeoutMs = 150_000;

  private constructor(
    readonly stack: RunningStack,
    readonly client: FlyteClient,
    private readonly elsewhere: string,
    private readonly shared: boolean,
  ) {}

  /** @param shared several groups of cases use the stack: only `close` stops it, not `stop` */
  static async start(starting = startStack(["--no-example"], WARM_PYTHON_DEFAULTS), shared = false): Promise<ExampleRuns> {
    const stack = await starting;
    const client = createFlyteClient({ endpoint: `${stack.host}:${stack.api}` });
    const runs = new ExampleRuns(stack, client, mkdtempSync(join(tmpdir(), "flyte-ts-elsewhere-")), shared);
    runs.pyflyte("register", "--version", "v1", examplesFolder);
    return runs;
  }

  async stop(): Promise<void> {
    if (!this.shared) await this.close();
  }

  async close(): Promise<void> {
    this.client.close();
    rmSync(this.elsewhere, { recursive: true, force: true });
    await this.stack.stop();
  }

  /** Runs unmodified pyflyte in a folder without configuration. */
  pyflyte(...args: string[]): string {
    return this.python("pyflyte", ...args);
  }

  /** Runs a program of the stack's Python environment. */
  python(program: string, ...args: string[]): string {
    return runPython({ stack: this.stack, folder: this.elsewhere }, program, args);
  }

  /**
   * Starts the launch plan `python.NAME`, where NAME is `name`. Resolves to the execution's name.
   */
  async launch(name: string, inputs: Record<string, Literal> = {}, options: LaunchOptions = {}): Promise<string> {
    const launchPlan = { ...scope, resourceType: ResourceType.LAUNCH_PLAN, name: `python.${name}`, version: "v1" };
    const spec = { launchPlan, metadata: {}, overwriteCache: options.overwriteCache ?? false };
    const { id } = await this.client.admin.createExecution({ ...scope, spec, inputs: { literals: inputs } });
    return id?.name ?? "";
  }

  async waitForEnd(name: string): Promise<EndedExample> {
    const execution = await waitForEnd(this.client, { ...scope, name }, this.timeoutMs);
    const data = await this.client.admin.getExecutionData({ id: execution.id });
    const outputs = Object.fromEntries(
      Object.entries(data.fullOutputs?.literals ?? {}).map(([key, literal]) => [key, plainLiteral(literal)]),
    );
    const result = execution.closure?.outputResult;
    const error = result?.case === "error" ? result.value : { code: "", message: "" };
    // Print the error for a test that expected another end.
    if (error.code !== "") process.stderr.write(`${execution.spec?.launchPlan?.name} ${name}: ${error.code}: ${error.message}\n`);
    return { phase: WorkflowExecution_Phase[execution.closure?.phase ?? 0] ?? "", execution, outputs, error };
  }

  async run(name: string, inputs: Record<string, Literal> = {}, options: LaunchOptions = {}): Promise<EndedExample> {
    return this.waitForEnd(await this.launch(name, inputs, options));
  }

  async nodes(execution: Execution, uniqueParentId = ""): Promise<readonly NodeExecution[]> {
    const { nodeExecutions } = await this.client.admin.listNodeExecutions({
      workflowExecutionId: execution.id,
      limit: 100,
      uniqueParentId,
    });
    return nodeExecutions;
  }

  async nodePhases(execution: Execution, uniqueParentId = ""): Promise<Record<string, string>> {
    const nodes = await this.nodes(execution, uniqueParentId);
    return Object.fromEntries(nodes.map((node) => [node.id?.nodeId ?? "", NodeExecution_Phase[node.closure?.phase ?? 0] ?? ""]));
  }

  /** Cache statuses of the top-level task nodes, by node. */
  async cacheStatuses(execution: Execution): Promise<Record<string, string>> {
    const found = (await this.nodes(execution)).flatMap(({ id, closure }) =>
      closure?.targetMetadata.case === "taskNodeMetadata"
        ? [[id?.nodeId ?? "", CatalogCacheStatus[closure.targetMetadata.value.cacheStatus] ?? ""] as const]
        : [],
    );
    return Object.fromEntries(found);
  }

  /** Phases of a node's attempts, in order. */
  async attempts(execution: Execution, nodeId: string): Promise<string[]> {
    const { taskExecutions } = await this.client.admin.listTaskExecutions({
      nodeExecutionId: { executionId: execution.id, nodeId },
      limit: 10,
    });
    return taskExecutions
      .sort((a, b) => (a.id?.retryAttempt ?? 0) - (b.id?.retryAttempt ?? 0))
      .map((task) => TaskExecution_Phase[task.closure?.phase ?? 0] ?? "");
  }
}
