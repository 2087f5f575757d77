import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import { literalMap, stringLiteral } from "@flyte-ts/domain";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Answers, createSurely } from "../create-surely.js";
import { insist } from "../executions.js";
import { TARGET } from "../shell-tasks.js";
import type { Asked } from "./check-ends.js";
import { launchPlanOf, type PodDeeds, registerTask, registerWorkflow } from "./register.js";
import { CATALOGUE, SHAPES, type Shape } from "./shapes.js";

const ENDED: readonly Phase[] = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT];
const LOOK_EVERY_MS = 500;
/**
 * Executions with the same input of the cached task: the first runs it, the others reuse its
 * output.
 */
const SHARE_CACHE = 4;

export async function registerWorkload(client: FlyteClient, pods: PodDeeds): Promise<void> {
  for (const task of CATALOGUE.tasks) await registerTask(client, task, pods);
  for (const workflow of CATALOGUE.workflows) await registerWorkflow(client, workflow);
}

export interface WorkloadOptions {
  /** Prefix of the names of its executions. */
  readonly prefix: string;
  /** Concurrent executions. */
  readonly running: number;
  /** Maximum total of executions. */
  readonly most: number;
  /** Timeout of a call while the API is unavailable, and of the last end, ms. */
  readonly patienceMs: number;
}

/** Creates executions of every shape in rotation and replaces those that have ended. */
export class Workload {
  readonly asked: Asked[] = [];
  readonly answers: Answers = new Map();
  #ended: ReadonlyMap<string, Phase> = new Map();
  #closed = false;
  readonly #creating = new Set<Promise<void>>();
  #failure: Error | undefined;
  readonly #keeping: Promise<void>;

  constructor(
    private readonly client: FlyteClient,
    private readonly options: WorkloadOptions,
  ) {
    this.#keeping = this.#keep();
  }

  /**
   * Stops creating and waits for all ends. Returns the names of the executions that did not end.
   */
  async end(): Promise<string[]> {
    this.#closed = true;
    await this.#keeping;
    await Promise.all(this.#creating);
    if (this.#failure !== undefined) throw this.#failure;
    for (const deadline = Date.now() + this.options.patienceMs; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
      await this.#look();
      if (this.#open() === 0) break;
    }
    return this.asked.filter(({ name }) => !this.#ended.has(name)).map(({ name, shape }) => `${name} (${shape}) has not ended`);
  }

  #open(): number {
    return this.asked.filter(({ name }) => !this.#ended.has(name)).length;
  }

  async #keep(): Promise<void> {
    const { running, most } = this.options;
    while (!this.#closed) {
      for (let lack = running - this.#open(); lack > 0 && this.asked.length < most; lack--) this.#create();
      await this.#look().catch(() => undefined);
      await sleep(LOOK_EVERY_MS);
    }
  }

  #create(): void {
    const index = this.asked.length;
    const shape = SHAPES[index % SHAPES.length] as Shape;
    const name = `${this.options.prefix}${index}`;
    const x = shape === "cached" ? `${this.options.prefix}shared${Math.floor(index / SHAPES.length / SHARE_CACHE)}` : `v-${name}`;
    this.asked.push({ name, shape, x });
    const wanted = { name, launchPlan: launchPlanOf(shape), inputs: literalMap([["x", stringLiteral(x)]]) };
    const creating = createSurely(wanted, {
      clients: [this.client],
      first: 0,
      answers: this.answers,
      patienceMs: this.options.patienceMs,
    }).catch((error: unknown) => {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    });
    this.#creating.add(creating);
    void creating.then(() => this.#creating.delete(creating));
  }

  async #look(): Promise<void> {
    const { project, domain } = TARGET;
    const request = { id: { project, domain }, limit: 10_000, filters: `contains(execution_name,${this.options.prefix})` };
    const { executions } = await insist(() => this.client.admin.listExecutions(request, { deadlineMs: 5_000 }), 30_000);
    const ended = executions.filter(({ closure }) => ENDED.includes(closure?.phase ?? 0));
    this.#ended = new Map(ended.map(({ id, closure }) => [id?.name ?? "", closure?.phase ?? 0]));
  }
}
