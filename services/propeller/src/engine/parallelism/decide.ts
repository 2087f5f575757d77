import type { NodeTarget } from "@flyte-ts/workflow-crd";

/** Whether a node counts against the execution's `max parallelism`, from when it is queued to its end. */
export function takesSlot(target: NodeTarget): boolean {
  switch (target.kind) {
    case "task":
    case "array":
    case "launchPlan":
      return true;
    case "start":
    case "end":
    case "branch":
    case "subWorkflow":
    case "gate":
      return false;
  }
}

/** Whether one more may begin; 0 means no limit. */
export function hasRoom(maxParallelism: number, used: number): boolean {
  return maxParallelism <= 0 || used < maxParallelism;
}
