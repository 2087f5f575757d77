import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { WorkflowModel } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { CallTable } from "../calls/call-table.js";
import type { EngineConfig } from "../config.js";
import { ErrorBudget } from "../errors/error-budget.js";
import { executionDataDir } from "../graph/paths.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { OutputBudget } from "../status/output-budget.js";
import { RunStatus } from "../status/run-status.js";
import type { Effect } from "../types.js";
import { BlobReads } from "./blob-reads.js";
import { BlobWrites } from "./blob-writes.js";
import { EffectBuffer } from "./effect-buffer.js";
import type { EnginePolicy } from "./engine-policy.js";
import { CurrentObservation } from "./observation.js";
import { Publishing } from "./publishing.js";
import { RunEnd } from "./run-end.js";
import { RunTimers } from "./run-timers.js";
import { rootScope } from "./scope.js";
import { Usage } from "./usage.js";
import { WorkQueues } from "./work-queues.js";

export interface RunContext {
  readonly model: WorkflowModel;
  readonly config: EngineConfig;
  readonly policy: EnginePolicy;
  /** ms. */
  readonly now: number;
}

/**
 * State of one running workflow: records, of which only their own methods change the fields. The
 * parts of the engine are functions that read the records and call these methods.
 */
export class RunState {
  readonly model: WorkflowModel;
  readonly config: EngineConfig;
  readonly policy: EnginePolicy;
  /** The workflow's own graph. */
  readonly root: Scope;

  readonly observation: Readonly<CurrentObservation>;
  readonly queues: Readonly<WorkQueues> = new WorkQueues();
  readonly usage: Readonly<Usage> = new Usage();
  readonly status: Readonly<RunStatus>;
  readonly outputBudget: Readonly<OutputBudget<RuntimeNode>> = new OutputBudget<RuntimeNode>();
  readonly errors = new ErrorBudget();
  readonly blobReads: BlobReads;
  readonly blobWrites: BlobWrites;
  readonly calls: CallTable<RuntimeNode>;
  readonly timers = new RunTimers();
  readonly publishing: Readonly<Publishing> = new Publishing();
  readonly end: Readonly<RunEnd> = new RunEnd();
  readonly effects = new EffectBuffer();

  constructor({ model, config, policy, now }: RunContext, status: WorkflowStatus) {
    this.model = model;
    this.config = config;
    this.policy = policy;
    this.observation = new CurrentObservation(now);
    this.status = new RunStatus(status);
    this.blobReads = new BlobReads(config.blobRetry, config.random);
    this.blobWrites = new BlobWrites(config.blobRetry, config.random);
    this.calls = new CallTable(now);
    this.root = rootScope(this);
  }

  get dataDir(): string {
    return this.status.workflow.dataDir ?? executionDataDir(this.config.metadataPrefix, this.model.executionId);
  }

  templateOf(node: RuntimeNode): TaskTemplate | undefined {
    const { target } = node.model;
    if (target.kind !== "task") return undefined;
    const { array, definitions } = node.scope;
    return array === undefined ? definitions.tasks.get(target.task) : array.cacheTemplate;
  }

  /** Task of the node's task executions: for an array, that of its items. */
  taskIdOf(node: RuntimeNode): Identifier | undefined {
    const { target } = node.model;
    if (target.kind !== "array") return this.templateOf(node)?.id;
    const itemTarget = target.subNode.target;
    return itemTarget.kind === "task" ? node.scope.definitions.tasks.get(itemTarget.task)?.id : undefined;
  }

  /** `continuesPrevious`: see `CurrentObservation.begin`. */
  beginObservation(now: number, continuesPrevious: boolean): void {
    this.observation.begin({ now, continuesPrevious, hasWork: this.queues.hasWork });
  }

  /** Returns the observation's effects; those with timing `afterWrite` wait for its revision. */
  endObservation(): readonly Effect[] {
    return this.effects.drain(this.status.endObservation());
  }
}
