import type { ExecutionOptions, NodeModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";

type InterruptibleConfig = Pick<EngineConfig, "interruptibleFailureThreshold" | "maxSystemFailures">;

/**
 * Whether an attempt may run on machines that can be taken away: the node's
 * own word goes before the execution's, and that before the workflow's. Enough system
 * failures end it, so that the last attempt has a machine of its own (contract §5.3).
 */
export function decideInterruptible(
  node: NodeModel,
  options: ExecutionOptions,
  facts: { systemFailures: number; config: InterruptibleConfig },
): boolean {
  const wanted = node.interruptible ?? options.interruptible ?? options.defaultInterruptible;
  return wanted && facts.systemFailures < interruptibleBudget(facts.config);
}

/** System failures that may be spent on interruptible machines. */
export function interruptibleBudget({ interruptibleFailureThreshold: threshold, maxSystemFailures }: InterruptibleConfig): number {
  return threshold > 0 ? threshold : maxSystemFailures + 1 + threshold;
}
