import type { ExecutionOptions, NodeModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";

type InterruptibleConfig = Pick<EngineConfig, "interruptibleFailureThreshold" | "maxSystemFailures">;

/**
 * Decides whether an attempt may run on interruptible machines. The node's setting takes precedence
 * over the execution's, and that over the workflow's. After enough system failures the answer is
 * no, so that the last attempt gets a regular machine.
 */
export function decideInterruptible(
  node: NodeModel,
  options: ExecutionOptions,
  facts: { systemFailures: number; config: InterruptibleConfig },
): boolean {
  const wanted = node.interruptible ?? options.interruptible ?? options.defaultInterruptible;
  return wanted && facts.systemFailures < interruptibleBudget(facts.config);
}

/** System failures that may happen on interruptible machines. */
function interruptibleBudget({ interruptibleFailureThreshold: threshold, maxSystemFailures }: InterruptibleConfig): number {
  return threshold > 0 ? threshold : maxSystemFailures + 1 + threshold;
}
