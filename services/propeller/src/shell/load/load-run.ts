import type { EngineConfig } from "../../engine/config.js";
import { checkExpansion, ExpansionError } from "@flyte-ts/domain/graph";
import { isTerminalWorkflow, WorkflowPhase } from "@flyte-ts/domain/phase";
import { buildAbortEffects, createRun } from "../../engine/run/workflow-run.js";
import type { Effect } from "../../engine/types.js";
import { EngineFault, rethrowAsEngineFault } from "../../engine-io/engine-fault.js";
import { WriteGate } from "../../engine-io/write-gate.js";
import { InvalidWorkflowError, type WorkflowLoader } from "./load-workflow.js";
import { modelExpansion, StatusTooNewError, type ParsedWorkflow } from "@flyte-ts/workflow-crd";
import { objectName } from "../object-name.js";

export interface LoadOptions {
  readonly loader: WorkflowLoader;
  readonly engine: EngineConfig;
  readonly now: () => number;
  /** Sufficient version of a resource that only this process writes; else its latest is read. */
  readonly minResourceVersion?: string | undefined;
}

/**
 * Result of loading a workflow. `gone`: no such resource; `unreadable`: this version is permanently
 * invalid; `tooLarge`: its graphs exceed the limits of an execution; `newer`: only a newer build
 * can run it; `faulty`: the engine fails on it.
 */
export type LoadResult =
  | { readonly kind: "run"; readonly io: WriteGate }
  | { readonly kind: "gone" }
  | (AbandonedWorkflow & { readonly kind: "unreadable"; readonly error: string })
  | (AbandonedWorkflow & { readonly kind: "tooLarge"; readonly error: string })
  | { readonly kind: "newer"; readonly error: string }
  | (AbandonedWorkflow & { readonly kind: "faulty" });

/** Readable facts of a workflow to abandon. */
export interface AbandonedWorkflow {
  readonly resourceVersion: string;
  /** The workflow had already ended. */
  readonly ended: boolean;
  /** False when the status shows that it never started anything. */
  readonly maybeStarted: boolean;
  /** Task types in its definition. Dynamic nodes may have run others. */
  readonly taskTypes: readonly string[];
  /** Abort the attempts that the resource shows as running. */
  readonly aborts: readonly Effect[];
}

/**
 * Reads a workflow's resource and creates its run, without a first observation.
 *
 * @throws transient errors.
 */
export function loadRun(key: string, options: LoadOptions): Promise<LoadResult> {
  return loadAndMap(key, options, (workflow) => {
    const { engine } = options;
    const now = options.now();
    try {
      // Checks the size before any graph is expanded, to run or to abort the workflow.
      checkExpansion(workflow.model.root.id, modelExpansion(workflow.model), engine);
      const run = rethrowAsEngineFault(() => createRun({ workflow, config: engine, now }));
      return { kind: "run", io: new WriteGate(run, workflow, now) };
    } catch (error) {
      const cause = error instanceof EngineFault ? error.cause : error;
      if (!(cause instanceof ExpansionError)) throw error;
      return { kind: "tooLarge", error: cause.message, ...abandonedWorkflow(workflow, []) };
    }
  });
}

/**
 * Reads the resource of a workflow that is abandoned because the engine fails on it.
 *
 * @throws transient errors.
 */
export function loadForAbandon(key: string, options: LoadOptions, reason: string): Promise<LoadResult> {
  return loadAndMap(key, options, (workflow) => {
    const ended = isTerminalWorkflow(workflow.status.phase);
    return { kind: "faulty", ...abandonedWorkflow(workflow, ended ? [] : abortEffectsOrNone(workflow, options, reason)) };
  });
}

function abandonedWorkflow({ model, status, resourceVersion }: ParsedWorkflow, aborts: readonly Effect[]): AbandonedWorkflow {
  return {
    resourceVersion,
    ended: isTerminalWorkflow(status.phase),
    maybeStarted: status.phase !== WorkflowPhase.Ready,
    taskTypes: [...new Set(Array.from(model.tasks.values(), ({ type }) => type))],
    aborts,
  };
}

/** Returns no effects when the engine fails on the abort as well. */
function abortEffectsOrNone(workflow: ParsedWorkflow, { engine, now }: LoadOptions, reason: string): readonly Effect[] {
  try {
    return buildAbortEffects({ workflow, config: engine, now: now() }, reason);
  } catch {
    return [];
  }
}

async function loadAndMap(
  key: string,
  { loader, minResourceVersion }: LoadOptions,
  map: (workflow: ParsedWorkflow) => LoadResult,
): Promise<LoadResult> {
  try {
    const workflow = await loader.load(objectName(key), minResourceVersion);
    return workflow === undefined ? { kind: "gone" } : map(workflow);
  } catch (error) {
    if (error instanceof StatusTooNewError) return { kind: "newer", error: error.message };
    if (!(error instanceof InvalidWorkflowError)) throw error;
    const { message, resourceVersion, known } = error;
    return {
      kind: "unreadable",
      error: message,
      resourceVersion,
      ended: false,
      aborts: [],
      taskTypes: known.taskTypes,
      maybeStarted: known.maybeStarted,
    };
  }
}
