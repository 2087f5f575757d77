import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Semaphore } from "@flyte-ts/async";
import { hashInputs } from "@flyte-ts/domain/catalog";
import { ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { RunFailure, userError } from "../failure/failure.js";
import { childName } from "./child-name.js";
import type { ExecutionApi, ExecutionName } from "./execution-api.js";

/** A child execution of an eager task failed. */
export class ExecutionFailed extends Error {
  override readonly name = "ExecutionFailed";

  constructor(
    message: string,
    /** Name of the execution. */
    readonly execution: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Entity that a child execution runs. */
export interface ChildEntity {
  readonly resourceType: ResourceType;
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly version: string;
}

export interface ChildSettings {
  readonly api: ExecutionApi;
  /** Execution of the eager task. */
  readonly execution: ExecutionName;
  /** Identifies its node, alike for all attempts. */
  readonly node: string;
  /** Maximum number of children that run at a time. */
  readonly concurrency: number;
}

const ENDED = new Set([Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT]);
const ABANDONED = new Set([Phase.FAILING, Phase.FAILED, Phase.ABORTING, Phase.ABORTED, Phase.TIMED_OUT]);
/** Delays between questions about a child: short at first, then by its age. */
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 2_000;
const POLL_SHARE_OF_AGE = 0.1;

/** Child executions of a running eager task. */
export class ChildExecutions {
  readonly #settings: ChildSettings;
  readonly #permits: Semaphore;
  readonly #calls = new Map<string, number>();
  readonly #running = new Map<string, ExecutionName>();

  constructor(settings: ChildSettings) {
    this.#settings = settings;
    this.#permits = new Semaphore(settings.concurrency);
  }

  /** Runs an entity as an execution of its own, or attaches to the one of an earlier attempt. */
  run(entity: ChildEntity, inputs: LiteralMap): Promise<LiteralMap> {
    // The name follows from the order of equal calls alone: it is chosen before a wait.
    const id = { project: entity.project, domain: entity.domain, name: this.#nameOf(entity, inputs) };
    return this.#permits.run(async () => {
      await this.#start(id, entity, inputs);
      this.#running.set(id.name, id);
      try {
        return await this.#outputsOf(id, entity);
      } finally {
        this.#running.delete(id.name);
      }
    });
  }

  /** Aborts running children if the execution ends, so that no attempt will attach to them. */
  async abandon(): Promise<void> {
    const { api, execution } = this.#settings;
    const { closure } = await api.get(execution);
    if (!ABANDONED.has(closure?.phase ?? Phase.UNDEFINED)) return;
    await Promise.allSettled([...this.#running.values()].map((id) => api.abort(id, `the eager task of ${execution.name} was aborted`)));
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

  async #start(id: ExecutionName, entity: ChildEntity, inputs: LiteralMap): Promise<void> {
    const { api, execution } = this.#settings;
    const isNew = await api.create({
      ...id,
      inputs,
      spec: {
        launchPlan: { $typeName: "flyteidl.core.Identifier", org: "", ...entity },
        metadata: { mode: ExecutionMetadata_ExecutionMode.MANUAL },
        tags: [`eager-exec:${execution.name}`],
      },
    });
    if (isNew) return;
    const { fullInputs = create(LiteralMapSchema) } = await api.data(id);
    if (hashInputs(fullInputs) !== hashInputs(inputs))
      throw new RunFailure(`the execution ${id.name} exists with other inputs`, userError("ChildConflict"));
  }

  async #outputsOf(id: ExecutionName, { name }: ChildEntity): Promise<LiteralMap> {
    const { api } = this.#settings;
    const startedAt = performance.now();
    for (;;) {
      const { closure } = await api.get(id);
      const phase = closure?.phase ?? Phase.UNDEFINED;
      if (phase === Phase.SUCCEEDED) return (await api.data(id)).fullOutputs ?? create(LiteralMapSchema);
      if (ENDED.has(phase)) {
        const error = closure?.outputResult.case === "error" ? closure.outputResult.value : undefined;
        throw new ExecutionFailed(`${name} (${id.name}) ended ${Phase[phase]}: ${error?.message ?? ""}`.trim(), id.name, error?.code ?? "");
      }
      const age = performance.now() - startedAt;
      await sleep(Math.min(MAX_POLL_MS, Math.max(FIRST_POLL_MS, age * POLL_SHARE_OF_AGE)));
    }
  }
}
