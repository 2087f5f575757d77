import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { TaskExecution } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { ExecutionError_ErrorKind, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow, type ShellNode, TARGET } from "../stack/shell-tasks.js";
import { processesOf } from "../stack/stack-fixture.js";
import { flytekitImage, type StackOnNode } from "./node-fixture.js";

/** The error and phase of one attempt that a user reads. */
export interface Attempt {
  readonly phase: string;
  readonly reason: string;
  readonly code: string;
  readonly kind: string;
  readonly message: string;
}

export interface PodOutcome {
  readonly phase: string;
  /** `closure.error` of the execution. */
  readonly code: string;
  readonly message: string;
  /** In order of attempt number. */
  readonly attempts: readonly Attempt[];
}

const NODE = "n0";
const POLL_INTERVAL_MS = 100;
const PHASE_TIMEOUT_MS = 60_000;
const scope = { project: TARGET.project, domain: TARGET.domain };
export const NAMESPACE = `${scope.project}-${scope.domain}`;

/** Runs workflows of one pod on a real node. */
export class PodOutcomes {
  readonly #client: FlyteClient;

  constructor({ host, api }: StackOnNode) {
    this.#client = createFlyteClient({ endpoint: `${host}:${api}` });
  }

  close(): void {
    this.#client.close();
  }

  /** Starts the workflow; the execution has the same name. */
  async launch(name: string, script: string, more: Partial<ShellNode> = {}): Promise<string> {
    const container = { image: flytekitImage, ...more.container };
    const launchPlan = await registerShellWorkflow(this.#client, name, [{ id: NODE, script, after: [], ...more, container }]);
    await this.#client.admin.createExecution({ ...scope, name, spec: { launchPlan, metadata: {} }, inputs: {} });
    return name;
  }

  async end(name: string): Promise<PodOutcome> {
    const execution = await waitForEnd(this.#client, { ...scope, name }, 150_000);
    const result = execution.closure?.outputResult;
    const { code, message } = result?.case === "error" ? result.value : { code: "", message: "" };
    return {
      phase: WorkflowExecution_Phase[execution.closure?.phase ?? 0] ?? "",
      code,
      message,
      attempts: await this.#endedAttempts(name),
    };
  }

  /** Waits for the attempts' ends: they are recorded independently of the execution's end. */
  async #endedAttempts(name: string): Promise<Attempt[]> {
    for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
      const attempts = await this.attempts(name);
      if (attempts.every(hasEnded) || waited > PHASE_TIMEOUT_MS) return attempts;
      await sleep(POLL_INTERVAL_MS);
    }
  }

  async run(name: string, script: string, more: Partial<ShellNode> = {}): Promise<PodOutcome> {
    return this.end(await this.launch(name, script, more));
  }

  async attempts(name: string): Promise<Attempt[]> {
    const nodeExecutionId = { executionId: { ...scope, name }, nodeId: NODE };
    const { taskExecutions } = await this.#client.admin.listTaskExecutions({ nodeExecutionId, limit: 20 });
    return taskExecutions.sort((a, b) => (a.id?.retryAttempt ?? 0) - (b.id?.retryAttempt ?? 0)).map(attempt);
  }

  /** Waits until the attempt is in that phase. Resolves to the details that the API shows. */
  async waitForPhase(name: string, phase: keyof typeof TaskExecution_Phase, index = 0): Promise<Attempt> {
    for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
      const seen = (await this.attempts(name))[index];
      if (seen?.phase === phase) return seen;
      if (waited > PHASE_TIMEOUT_MS)
        throw new Error(`attempt ${index} of ${name} is ${seen?.phase ?? "not there"} (${seen?.reason}), not ${phase}`);
      await sleep(POLL_INTERVAL_MS);
    }
  }

  async abort(name: string): Promise<void> {
    await this.#client.admin.terminateExecution({ id: { ...scope, name }, cause: "seen enough" });
  }

  /** Finds the process id of the task's program, which is process 1 of its container. */
  processIdOf(name: string): number {
    const found = processesOf(`FLYTE_INTERNAL_EXECUTION_ID=${name}`).filter(({ command }) => !command.startsWith("sleep"));
    return Math.min(...found.map(({ pid }) => pid));
  }

  podName(name: string, index = 0): string {
    return `${name}-${NODE}-${index}`;
  }
}

function hasEnded({ phase, code }: Attempt): boolean {
  return phase === "FAILED" ? code !== "" : phase === "SUCCEEDED" || phase === "ABORTED";
}

function attempt({ closure }: TaskExecution): Attempt {
  const result = closure?.outputResult;
  const error = result?.case === "error" ? result.value : undefined;
  return {
    phase: TaskExecution_Phase[closure?.phase ?? 0] ?? "",
    reason: closure?.reason ?? "",
    code: error?.code ?? "",
    kind: error === undefined ? "" : (ExecutionError_ErrorKind[error.kind] ?? ""),
    message: error?.message ?? "",
  };
}
