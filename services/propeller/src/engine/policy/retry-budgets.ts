import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { NodeModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";
import type { RetryBudgets } from "./retry.js";

/**
 * Returns the retry budgets. The number of attempts is the node's setting, else its task's, else
 * the installation's.
 */
export function budgetsOf(node: NodeModel, template: TaskTemplate | undefined, config: EngineConfig): RetryBudgets {
  const taskRetries = template?.metadata?.retries?.retries ?? 0;
  const pending = node.maxAttempts ?? (taskRetries > 0 ? taskRetries + 1 : undefined);
  return { maxAttempts: Math.max(1, pending ?? config.defaultMaxAttempts), maxSystemFailures: config.maxSystemFailures };
}
