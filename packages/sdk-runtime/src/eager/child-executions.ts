import { create } from "@bufbuild/protobuf";
import { Semaphore } from "@flyte-ts/async";
import { hashInputs } from "@flyte-ts/domain/catalog";
import { ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ExecutionName, type Executions, waitForEnd } from "@flyte-ts/sdk/api";
import { RunFailure, userError } from "../failure/failure.js";
import { childName } from "./child-name.js";
import { ChildRecords } from "./child-records.js";

/** Entity that a child execution runs. */
export interface ChildEntity {
  readonly resourceType: ResourceType;
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly version: string;
}

export interface ChildSettings {
  readonly executions: Executions;
  /** Execution of the eager task. */
  readonly execution: ExecutionName;
  /** Identifies its node, alike for all attempts. */
  readonly node: string;
  /** Maximum number of children that run at a time. */
  readonly concurrency: number;
}

const ABANDONED = new Set([Phase.FAILING, Phase.FAILED, Phase.ABORTING, Phase.ABORTED, Phase.TIMED_OUT]);

/** Time for the aborts of all children, ms: the pod of their task waits for them. */
const ABORT_TIMEOUT_MS = 30_000;
const NEVER = new Promise<never>(() => undefined);

interface RunningChild {
  readonly id: ExecutionName;
  /** Settles when the execution exists, or could not be created. */
  readonly started: Promise<unknown>;
}

/** Child executions of a running eager task. */
export class ChildExecutions {
  /** Children so far, for the deck. */
  readonly records: ChildRecords = new ChildRecords();
  readonly #settings: ChildSettings;
  readonly #permits: Semaphore;
  readonly #calls = new Map<string, number>();
  readonly #running = new Map<string, RunningChild>();
  #stopped = false;

  constructor(settings: ChildSettings) {
    this.#settings = settings;
    this.#permits = new Semaphore(settings.concurrency);
  }

  /**
   * Runs an entity as an execution of its own, or attaches to the one of an earlier attempt.
   *
   * @throws ExecutionFailed unless it succeeds
   */
  run(entity: ChildEntity, inputs: LiteralMap): Promise<LiteralMap> {
    // The name follows from the order of equal calls alone: it is chosen before a wait.
    const id = { project: entity.project, domain: entity.domain, name: this.#nameOf(entity, inputs) };
    return this.#permits.run(async () => {
      // The task has failed: a child that is aborted with it is no further error.
      if (this.#stopped) return NEVER;
      try {
        return await this.#follow(id, entity, inputs);
      } catch (error) {
        if (this.#stopped) return NEVER;
        throw error;
      }
    });
  }

  async #follow(id: ExecutionName, entity: ChildEntity, inputs: LiteralMap): Promise<LiteralMap> {
    const started = this.#start(id, entity, inputs);
    this.#running.set(id.name, { id, started });
    try {
      const isNew = await started;
      const ended = this.records.begin({ ...id, entity: entity.name, isNew });
      const { phase, failure } = await waitForEnd(this.#settings.executions, id);
      ended(Phase[phase] ?? "");
      if (failure !== undefined) throw failure;
      return (await this.#settings.executions.data(id)).fullOutputs ?? create(LiteralMapSchema);
    } finally {
      this.#running.delete(id.name);
    }
  }

  /** Aborts running children if the execution ends, so that no attempt will attach to them. */
  async abandon(): Promise<void> {
    const { executions, execution } = this.#settings;
    const { closure } = await executions.get(execution);
    if (ABANDONED.has(closure?.phase ?? Phase.UNDEFINED)) await this.#abort("was aborted");
  }

  /** Starts no more children, and aborts running ones: no attempt will attach to them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#abort("failed");
  }

  async #abort(end: string): Promise<void> {
    const { executions, execution } = this.#settings;
    const signal = AbortSignal.timeout(ABORT_TIMEOUT_MS);
    await Promise.allSettled(
      [...this.#running.values()].map(async ({ id, started }) => {
        await started;
        await executions.abort(id, `the eager task of ${execution.name} ${end}`, { signal });
      }),
    );
  }

  #nameOf(entity: ChildEntity, inputs: LiteralMap): string {
    const hash = hashInputs(inputs);
    const key = JSON.stringify([entity.resourceType, entity.project, entity.domain, entity.name, hash]);
    const ordinal = this.#calls.get(key) ?? 0;
    this.#calls.set(key, ordinal + 1);
    const { execution, node } = this.#settings;
    const parent = JSON.stringify([execution.project, execution.domain, execution.name, node]);
    return childName({ parent, entity: key, version: entity.version, inputs: hash, ordinal });
  }

  /** Creates the execution; false when an earlier attempt has created it. */
  async #start(id: ExecutionName, entity: ChildEntity, inputs: LiteralMap): Promise<boolean> {
    const { executions, execution } = this.#settings;
    const isNew = await executions.create({
      ...id,
      inputs,
      spec: {
        launchPlan: { $typeName: "flyteidl.core.Identifier", org: "", ...entity },
        metadata: { mode: ExecutionMetadata_ExecutionMode.MANUAL },
        tags: [`eager-exec:${execution.name}`],
      },
    });
    if (isNew) return true;
    const { fullInputs = create(LiteralMapSchema) } = await executions.data(id);
    if (hashInputs(fullInputs) !== hashInputs(inputs))
      throw new RunFailure(`the execution ${id.name} exists with other inputs`, userError("ChildConflict"));
    return false;
  }
}
