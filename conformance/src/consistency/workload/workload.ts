import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import { literalMap, stringLiteral } from "@flyte-ts/domain/literal";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type ResponseCounts, createWithRetry } from "../../stack/create-with-retry.js";
import { retryWhileUnavailable } from "../../stack/executions.js";
import { TARGET } from "../../stack/shell-tasks.js";
import type { RequestedExecution } from "../evidence/check-evidence.js";
import { launchPlanOf, type PodOptions, registerTask, registerWorkflow } from "./register.js";
import { DEFINITIONS, SCENARIOS, type Scenario } from "./scenarios.js";

const ENDED: readonly Phase[] = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT];
const POLL_INTERVAL_MS = 500;
/**
 * Executions with the same input of the cached task: the first runs it, the others reuse its
 * output.
 */
const NODES_PER_CACHE_KEY = 4;

export async function registerWorkload(client: FlyteClient, pods: PodOptions): Promise<void> {
  for (const task of DEFINITIONS.tasks) await registerTask(client, task, pods);
  for (const workflow of DEFINITIONS.workflows) await registerWorkflow(client, workflow);
}

export interface WorkloadOptions {
  /** Prefix of the names of its executions. */
  readonly prefix: string;
  /** Concurrent executions. */
  readonly concurrency: number;
  /** Maximum total of executions. */
  readonly maxExecutions: number;
  /** Timeout of a call while the API is unavailable, and of the last end, ms. */
  readonly timeoutMs: number;
}

/** Creates executions of every shape in rotation and replaces those that have ended. */
export class Workload {
  readonly requested: RequestedExecution[] = [];
  readonly responseCounts: ResponseCounts = new Map();
  #ended: ReadonlyMap<string, Phase> = new Map();
  #closed = false;
  readonly #creating = new Set<Promise<void>>();
  #failure: Error | undefined;
  readonly #replacing: Promise<void>;

  constructor(
    private readonly client: FlyteClient,
    private readonly options: WorkloadOptions,
  ) {
    this.#replacing = this.#replaceEnded();
  }

  /**
   * Stops creating and waits for all ends. Returns the names of the executions that did not end.
   */
  async waitForEnds(): Promise<string[]> {
    this.#closed = true;
    await this.#replacing;
    await Promise.all(this.#creating);
    if (this.#failure !== undefined) throw this.#failure;
    for (const deadline = Date.now() + this.options.timeoutMs; Date.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
      await this.#readEnds();
      if (this.#openCount() === 0) break;
    }
    return this.requested.filter(({ name }) => !this.#ended.has(name)).map(({ name, scenario }) => `${name} (${scenario}) has not ended`);
  }

  #openCount(): number {
    return this.requested.filter(({ name }) => !this.#ended.has(name)).length;
  }

  async #replaceEnded(): Promise<void> {
    const { concurrency, maxExecutions } = this.options;
    while (!this.#closed) {
      for (let missing = concurrency - this.#openCount(); missing > 0 && this.requested.length < maxExecutions; missing--) this.#create();
      await this.#readEnds().catch(() => undefined);
      await sleep(POLL_INTERVAL_MS);
    }
  }

  #create(): void {
    const index = this.requested.length;
    const scenario = SCENARIOS[index % SCENARIOS.length] as Scenario;
    const name = `${this.options.prefix}${index}`;
    const x =
      scenario === "cached" ? `${this.options.prefix}shared${Math.floor(index / SCENARIOS.length / NODES_PER_CACHE_KEY)}` : `v-${name}`;
    this.requested.push({ name, scenario, x });
    const wanted = { name, launchPlan: launchPlanOf(scenario), inputs: literalMap([["x", stringLiteral(x)]]) };
    const creating = createWithRetry(wanted, {
      clients: [this.client],
      firstClient: 0,
      responseCounts: this.responseCounts,
      timeoutMs: this.options.timeoutMs,
    }).catch((error: unknown) => {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    });
    this.#creating.add(creating);
    void creating.then(() => this.#creating.delete(creating));
  }

  async #readEnds(): Promise<void> {
    const { project, domain } = TARGET;
    const request = { id: { project, domain }, limit: 10_000, filters: `contains(execution_name,${this.options.prefix})` };
    const { executions } = await retryWhileUnavailable(() => this.client.admin.listExecutions(request, { deadlineMs: 5_000 }), 30_000);
    const ended = executions.filter(({ closure }) => ENDED.includes(closure?.phase ?? 0));
    this.#ended = new Map(ended.map(({ id, closure }) => [id?.name ?? "", closure?.phase ?? 0]));
  }
}
