import type { EngineConfig } from "../engine/config.js";
import { checkExpansion, ExpansionError, isTerminalWorkflow, WorkflowPhase } from "@flyte-ts/domain";
import { abortsOf, createRun } from "../engine/run.js";
import type { Effect } from "../engine/types.js";
import { EngineFault, inEngine } from "../shell-core/engine-fault.js";
import { RunIo } from "../shell-core/run-io.js";
import { UnreadableWorkflow, type WorkflowLoader } from "./load-workflow.js";
import { modelExpansion, StatusTooNewError, type ParsedWorkflow } from "@flyte-ts/workflow-crd";
import { objectName } from "./object-name.js";

export interface TakeUpOptions {
  readonly loader: WorkflowLoader;
  readonly engine: EngineConfig;
  readonly now: () => number;
  /** Sufficient version of a resource that only this process writes; else its latest is read. */
  readonly notOlderThan?: string | undefined;
}

/**
 * Result of loading a workflow. `gone`: no such resource; `unreadable`: this version is permanently invalid;
 * `tooLarge`: its graphs exceed the limits of an execution; `newer`: only a newer build can run it; `faulty`: the
 * engine fails on it.
 */
export type TakenUp =
  | { readonly kind: "run"; readonly io: RunIo }
  | { readonly kind: "gone" }
  | (GivenUpWorkflow & { readonly kind: "unreadable"; readonly error: string })
  | (GivenUpWorkflow & { readonly kind: "tooLarge"; readonly error: string })
  | { readonly kind: "newer"; readonly error: string }
  | (GivenUpWorkflow & { readonly kind: "faulty" });

/** Readable facts of a workflow to abandon. */
export interface GivenUpWorkflow {
  readonly resourceVersion: string;
  /** The workflow had already ended. */
  readonly ended: boolean;
  /** False when the status shows that it never started anything. */
  readonly mayHaveBegun: boolean;
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
export function takeUp(key: string, options: TakeUpOptions): Promise<TakenUp> {
  return read(key, options, (workflow) => {
    const { engine } = options;
    const now = options.now();
    try {
      // Before anything is expanded, to run or to abort it.
      checkExpansion(workflow.model.root.id, modelExpansion(workflow.model), engine);
      const run = inEngine(() => createRun({ workflow, config: engine, now }));
      return { kind: "run", io: new RunIo(run, workflow, now) };
    } catch (error) {
      const cause = error instanceof EngineFault ? error.cause : error;
      if (!(cause instanceof ExpansionError)) throw error;
      return { kind: "tooLarge", error: cause.message, ...givenUp(workflow, []) };
    }
  });
}

/**
 * Reads the resource of a workflow that is abandoned because the engine fails on it.
 *
 * @throws transient errors.
 */
export function takeLeave(key: string, options: TakeUpOptions, reason: string): Promise<TakenUp> {
  return read(key, options, (workflow) => {
    const ended = isTerminalWorkflow(workflow.status.phase);
    return { kind: "faulty", ...givenUp(workflow, ended ? [] : abortsIn(workflow, options, reason)) };
  });
}

function givenUp({ model, status, resourceVersion }: ParsedWorkflow, aborts: readonly Effect[]): GivenUpWorkflow {
  return {
    resourceVersion,
    ended: isTerminalWorkflow(status.phase),
    mayHaveBegun: status.phase !== WorkflowPhase.Ready,
    taskTypes: [...new Set(Array.from(model.tasks.values(), ({ type }) => type))],
    aborts,
  };
}

/** Returns no effects when the engine fails here too. */
function abortsIn(workflow: ParsedWorkflow, { engine, now }: TakeUpOptions, reason: string): readonly Effect[] {
  try {
    return abortsOf({ workflow, config: engine, now: now() }, reason);
  } catch {
    return [];
  }
}

async function read(key: string, { loader, notOlderThan }: TakeUpOptions, take: (workflow: ParsedWorkflow) => TakenUp): Promise<TakenUp> {
  try {
    const workflow = await loader.load(objectName(key), notOlderThan);
    return workflow === undefined ? { kind: "gone" } : take(workflow);
  } catch (error) {
    if (error instanceof StatusTooNewError) return { kind: "newer", error: error.message };
    if (!(error instanceof UnreadableWorkflow)) throw error;
    const { message, resourceVersion, known } = error;
    return { kind: "unreadable", error: message, resourceVersion, ended: false, aborts: [], ...known };
  }
}
