import type { ExecutionOptions, NodeModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";

/**
 * Whether an attempt may run on machines that can be taken away: the execution's
 * word goes before the node's, and that before the workflow's. Enough system
 * failures end it, so that the last attempt has a machine of its own (contract §5.3).
 */
export function decideInterruptible(
  node: NodeModel,
  options: ExecutionOptions,
  facts: { systemFailures: number; config: EngineConfig },
): boolean {
  const wanted = options.interruptible ?? node.interruptible ?? options.defaultInterruptible;
  return wanted && facts.systemFailures < interruptibleBudget(facts.config);
}

/** System failures that may be spent on interruptible machines. */
export function interruptibleBudget({ interruptibleFailureThreshold: threshold, maxSystemFailures }: EngineConfig): number {
  return threshold > 0 ? threshold : maxSystemFailures + 1 + threshold;
}
