import type { EngineConfig } from "../engine/config.js";
import { createRun } from "../engine/run.js";
import { RunIo } from "../shell-core/run-io.js";
import { UnreadableWorkflow, type WorkflowLoader } from "./load-workflow.js";
import { objectName } from "./object-name.js";

export interface TakeUpOptions {
  readonly loader: WorkflowLoader;
  readonly engine: EngineConfig;
  readonly now: () => number;
}

/** What came of reading a workflow. `gone`: there is no such resource; `unreadable`: nobody can ever run what stood there in this version. */
export type TakenUp =
  | { readonly kind: "run"; readonly io: RunIo }
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable"; readonly error: string; readonly resourceVersion: string };

/**
 * Reads a workflow's resource and makes its run, which has not looked at anything yet.
 *
 * @throws what is worth another try.
 */
export async function takeUp(key: string, { loader, engine, now }: TakeUpOptions): Promise<TakenUp> {
  try {
    const workflow = await loader.load(objectName(key));
    if (workflow === undefined) return { kind: "gone" };
    const run = createRun({ workflow, config: engine, now: now() });
    return { kind: "run", io: new RunIo(run, workflow.resourceVersion) };
  } catch (error) {
    if (!(error instanceof UnreadableWorkflow)) throw error;
    return { kind: "unreadable", error: error.message, resourceVersion: error.resourceVersion };
  }
}
