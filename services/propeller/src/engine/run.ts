import type { RunInput, WorkflowRun } from "./types.js";

/** Takes up a workflow as it stands in its resource. The first observation must be `load`. */
export function createRun(_input: RunInput): WorkflowRun {
  throw new Error("not written yet");
}
